import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, isGiven, RequestValues } from '#kernel/requests/request-values.ts';
import { readFeeRate } from '#psbts/planning/fee-rate.ts';
import { readOutpoint } from '#psbts/planning/read-outpoint.ts';
import { readSigners } from '#psbts/signers/read-signers.ts';
import type { WantedBurn } from './build-burn.ts';
import type { WantedInscriptionBurn } from './build-inscription-burn.ts';
import { type BurnType, burnTypes, metadataBytesMax } from './burn-script.ts';

/** Bounds of the public interface (client compatibility, 3.10), in sats: the amount to burn, and the minimum change. */
export const burnBounds = { least: 1n, most: 10_000n, changeLeast: 330n } as const;

/** Reads the body of a request to `/create-burn-psbt`. Total. */
export function readBurn(body: unknown, network: NetworkParameters): WantedBurn | Faulty {
  const values = new RequestValues();
  const fields = values.object(body ?? {}, 'the body') ?? {};
  const utxo = readOutpoint(values, 'utxo', fields['utxo']) ?? values.required(fields['utxo'], 'utxo');
  const { least, most, changeLeast } = burnBounds;
  const burnAmount = amountOf(values, 'burnAmount', fields['burnAmount'], { least, most });
  const changeAmount = amountOf(values, 'changeAmount', fields['changeAmount'], { least: changeLeast });
  const type = typeOf(values, fields['burnType']);
  const signers = readSigners(values, fields, network);
  const feeRate = readFeeRate(values, 'feeRate', fields['feeRate']);
  const isWhole =
    utxo !== null && burnAmount !== null && changeAmount !== null && type !== null && signers !== null;
  if (!isWhole || values.faults.length > 0) return { kind: 'faulty', faults: values.faults };
  return { kind: 'burn', signers, utxo, type, burnAmount, changeAmount, feeRate };
}

/** Reads a required amount. Returns null after adding a fault to `values`. */
function amountOf(
  values: RequestValues,
  name: string,
  given: unknown,
  { least, most = null }: { readonly least: bigint; readonly most?: bigint | null },
): bigint | null {
  if (!isGiven(given)) return values.required(given, name);
  const amount = values.whole(given, name);
  if (amount === null) return null;
  if (most !== null && (amount < least || amount > most))
    return values.fault(name, `must be from ${least} to ${most}`);
  return amount < least ? values.fault(name, `must be at least ${least}`) : amount;
}

function typeOf(values: RequestValues, given: unknown): BurnType | null {
  if (!isGiven(given)) return values.required(given, 'burnType');
  const type = burnTypes.find((one) => one === given);
  return type ?? values.fault('burnType', `must be one of ${burnTypes.join(', ')}`);
}

/** Reads the body of a request to `/tokenpay/create-burn-inscription-psbt`. Total. */
export function readInscriptionBurn(
  body: unknown,
  network: NetworkParameters,
): WantedInscriptionBurn | Faulty {
  const values = new RequestValues();
  const fields = values.object(body ?? {}, 'the body') ?? {};
  const { inscriptionId, utxo: named } = fields;
  const inscription = isGiven(inscriptionId) ? values.inscriptionId(inscriptionId, 'inscriptionId') : null;
  const utxo = readOutpoint(values, 'utxo', named);
  if (!isGiven(inscriptionId) && !isGiven(named))
    values.sentence('inscriptionId', 'inscriptionId or utxo is required.');
  const signers = readSigners(values, fields, network);
  const feeRate = readFeeRate(values, 'feeRate', fields['feeRate'], 'either');
  const metadata = values.text(fields['metadata'], 'metadata') ?? '';
  const bytes = Buffer.byteLength(metadata);
  if (bytes > metadataBytesMax)
    values.fault('metadata', `has ${bytes} bytes, but at most ${metadataBytesMax} are accepted`);
  if (signers === null || values.faults.length > 0) return { kind: 'faulty', faults: values.faults };
  return { kind: 'inscription-burn', signers, inscription, utxo, feeRate, metadata };
}
