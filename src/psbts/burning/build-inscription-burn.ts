import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { HeldInscription } from '#kernel/contracts/holdings.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';
import { type BuiltPsbt, buildPsbt } from '#psbts/bytes/build-psbt.ts';
import type { CoinParts } from '#psbts/coins/coin-parts.ts';
import { freeCoins } from '#psbts/coins/free-coins.ts';
import { feeRateFor, nodeFeesOf } from '#psbts/coins/node-fees.ts';
import { payingCoins } from '#psbts/coins/paying-coins.ts';
import { type PsbtRefusal, refusedPsbt } from '#psbts/planning/refusal.ts';
import type { Signers } from '#psbts/signers/read-signers.ts';
import { burnScriptWith, metadataBytesMax } from './burn-script.ts';
import { burnWarnings } from './burn-warnings.ts';
import { type BurnedOutput, burnedOutput, outputOfInscription } from './burned-output.ts';
import { askDataCarrier, type DataCarrier, whyNotCarried } from './data-carrier.ts';
import {
  formOf,
  type InscriptionBurn,
  inscriptionBurnFrame,
  planInscriptionBurn,
} from './plan-inscription-burn.ts';
import { lostSpecials } from './special-sats.ts';

/** A requested burn. The request names the inscription, the output, or both. */
export interface WantedInscriptionBurn {
  readonly kind: 'inscription-burn';
  readonly signers: Signers;
  readonly inscription: InscriptionId | null;
  readonly utxo: Outpoint | null;
  /** Fee rate in sats per 1,000 virtual bytes. Null means the node's estimate. */
  readonly feeRate: bigint | null;
  /** Text to store in the burn, at most `metadataBytesMax` bytes. An empty text stores nothing. */
  readonly metadata: string;
}

/**
 * Builds a burn of one inscribed sat, in the form that ord uses. Throws `not_found`, `coins_unproven`, and the codes of
 * UtxoReader and NodeRpc.
 */
export async function buildInscriptionBurn(
  parts: CoinParts,
  wanted: WantedInscriptionBurn,
  asker: Asker,
): Promise<BuiltPsbt | PsbtRefusal> {
  const { signers } = wanted;
  const feeRate = feeRateFor(wanted.feeRate, await nodeFeesOf(parts.node).standing());
  if (typeof feeRate !== 'bigint') return feeRate;
  const carrier = await askDataCarrier(parts.node);
  const script = burnScriptWith(wanted.metadata);
  if (script.length > carrier.bytesMax) return tooLong(wanted.metadata, script, carrier);
  const named = await nameOutput(parts, wanted, asker);
  if ('kind' in named) return named;
  const output = await burnedOutput(parts, signers.ordinals, named, asker);
  if (output.kind === 'refused') return output;
  const burned = inscriptionToBurn(output, wanted);
  if (burned.kind === 'refused') return burned;
  const { input: utxo, runes } = output;
  const burn = { utxo, offset: burned.offset, runes, signers, script, feeRate };
  const funded = await fund(parts, burn, asker);
  if (funded.kind === 'refused') return funded;
  const notCarried = whyNotCarried(funded.plan.outputs, carrier);
  if (notCarried !== null)
    return refusedPsbt(
      `${notCarried} The second OP_RETURN output would move runes to the ordinals address. Leave metadata out.`,
      'metadata',
    );
  const place = funded.plan.inputs.indexOf(utxo);
  const isSpecial = lostSpecials(funded.plan, place, Number(burned.offset), output.special).isInscribed;
  const warnings = [...burned.warnings, ...burnWarnings(funded.plan, isSpecial)];
  const unproven = [...output.unproven, ...funded.unproven];
  return buildPsbt(parts.node, funded.plan, { feeRate, warnings, unproven });
}

/**
 * Number of bytes in the script besides the text: OP_RETURN, two bytes before a push of 76 bytes or more, and two bytes
 * before a CBOR text of 24 bytes or more.
 */
const overhead = 5;

function tooLong(metadata: string, script: Uint8Array, { bytesMax }: DataCarrier): PsbtRefusal {
  const bytes = Buffer.byteLength(metadata);
  if (bytes === 0)
    return refusedPsbt('The node does not relay OP_RETURN outputs, so it does not relay a burn.');
  return refusedPsbt(
    `metadata: ${bytes} bytes make an OP_RETURN output of ${script.length} bytes, but the node relays at most ${bytesMax}. Send at most ${Math.min(metadataBytesMax, Math.max(0, bytesMax - overhead))} bytes.`,
    'metadata',
  );
}

async function nameOutput(
  parts: CoinParts,
  { inscription, utxo }: WantedInscriptionBurn,
  asker: Asker,
): Promise<Outpoint | PsbtRefusal> {
  if (utxo !== null) return utxo;
  if (inscription !== null) return outputOfInscription(parts, inscription, asker);
  return refusedPsbt('inscriptionId or utxo is required.', 'inscriptionId');
}

interface ToBurn {
  readonly kind: 'burn';
  readonly offset: bigint;
  readonly warnings: readonly string[];
}

/**
 * Selects the inscription of an output that is burned. If a request names both the output and the inscription, the
 * output may have other inscriptions on other sats. These return to the ordinals address.
 */
function inscriptionToBurn(
  { name, inscriptions }: BurnedOutput,
  { inscription, utxo }: WantedInscriptionBurn,
): ToBurn | PsbtRefusal {
  const count = inscriptions.length;
  if (count > 1 && utxo === null)
    return refusedPsbt(`utxo is required.\nThe output ${name} holds ${count} inscriptions.`, 'utxo');
  if (count > 1 && inscription === null)
    return refusedPsbt(
      `inscriptionId is required.\nThe output ${name} holds ${count} inscriptions.`,
      'inscriptionId',
    );
  const [first] = inscriptions;
  const burned = inscription === null ? first : inscriptions.find(({ id }) => id === shownId(inscription));
  if (burned === undefined)
    return refusedPsbt(
      `utxo: the output ${name} does not hold ${inscription === null ? 'an inscription' : shownId(inscription)}.`,
      'utxo',
    );
  const others = inscriptions.filter((each) => each !== burned);
  const beside = others.find(({ offset }) => offset === burned.offset);
  if (beside !== undefined)
    return refusedPsbt(
      `inscriptionId: ${beside.id} is on the same sat as ${burned.id} and would also be burned.`,
      'inscriptionId',
    );
  return { kind: 'burn', offset: burned.offset, warnings: others.map(returns) };
}

const returns = ({ id }: HeldInscription): string =>
  `${id}, which is in the same output, returns to the ordinals address.`;
const shownId = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);

async function fund(
  parts: CoinParts,
  burn: InscriptionBurn,
  asker: Asker,
): Promise<(Pick<BuiltPsbt, 'plan' | 'unproven'> & { readonly kind: 'funded' }) | PsbtRefusal> {
  const { supply, unproven } = await freeCoins(parts, burn.signers.payment, asker, [burn.utxo]);
  const chosen = payingCoins(await supply.choose(inscriptionBurnFrame(burn)));
  if (chosen.kind === 'refused') return chosen;
  const { padding } = formOf(burn);
  const coin = padding === 0n ? null : await supply.at(chosen.coins.length);
  if (padding > 0n && (coin === null || coin.value < padding))
    return refusedPsbt(
      `The ${burn.offset} sats before the inscribed sat are too few for an output, so another coin of at least ${padding} sats is needed to fill the output. Send such a coin to ${burn.signers.payment.address}.`,
      'paymentAddress',
    );
  const plan = planInscriptionBurn(burn, chosen.coins, coin);
  return { kind: 'funded', plan, unproven: [...unproven] };
}
