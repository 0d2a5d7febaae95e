import { compactSize, u64 } from '#kernel/bitcoin/transaction-bytes.ts';
import type { PsbtInput, PsbtPlan } from '#psbts/planning/psbt-plan.ts';
import { unsignedTransaction } from '#utxos/unsigned-transaction.ts';

/** A PSBT in the two forms that responses contain. */
export interface WrittenPsbt {
  readonly base64: string;
  readonly hex: string;
}

/** The bytes with which every PSBT begins: `psbt` and 0xff (BIP 174). */
const magic = Buffer.from('70736274ff', 'hex');
const globalUnsignedTransaction = 0x00;
/** Fields of an input (BIP 174, BIP 371). */
const inputFields = {
  nonWitnessUtxo: 0x00,
  witnessUtxo: 0x01,
  redeemScript: 0x04,
  tapInternalKey: 0x17,
} as const;
const mapEnd = Buffer.of(0);

/**
 * Writes a plan as a PSBT of version 0 (BIP 174). The PSBT contains everything that wallets need for signing, and no
 * other field, because some wallets refuse unknown fields. No sighash type is named. ECDSA signatures then have the
 * type ALL, and Schnorr signatures the type DEFAULT, which every wallet accepts. Pure.
 *
 * @param previous complete previous transactions without witnesses, by the index of the input. P2PKH inputs need them,
 *   and hardware wallets need them for segwit version 0.
 */
export function writePsbt(plan: PsbtPlan, previous: ReadonlyMap<number, Uint8Array>): WrittenPsbt {
  const parts: Uint8Array[] = [
    magic,
    // the transaction has the form without witnesses, which BIP 174 requires
    record(globalUnsignedTransaction, unsignedTransaction(plan.inputs, plan.outputs, plan.version)),
    mapEnd,
    ...plan.inputs.flatMap((input, index) => inputMap(input, previous.get(index) ?? null)),
    ...plan.outputs.map(() => mapEnd),
  ];
  const bytes = Buffer.concat(parts);
  return { base64: bytes.toString('base64'), hex: bytes.toString('hex') };
}

function inputMap({ value, signer }: PsbtInput, previous: Uint8Array | null): Uint8Array[] {
  const { type, script, redeemScript, internalKey } = signer;
  const map: Uint8Array[] = [];
  if (previous !== null) map.push(record(inputFields.nonWitnessUtxo, previous));
  if (type !== 'p2pkh') map.push(record(inputFields.witnessUtxo, outputBytes(value, script)));
  if (redeemScript !== null) map.push(record(inputFields.redeemScript, redeemScript));
  if (internalKey !== null) map.push(record(inputFields.tapInternalKey, internalKey));
  return [...map, mapEnd];
}

const outputBytes = (value: bigint, script: Uint8Array): Uint8Array =>
  Buffer.concat([u64(value), compactSize(script.length), script]);

/** Writes a key of one byte and a value, each after its length. */
const record = (key: number, value: Uint8Array): Uint8Array =>
  Buffer.concat([compactSize(1), Buffer.of(key), compactSize(value.length), value]);
