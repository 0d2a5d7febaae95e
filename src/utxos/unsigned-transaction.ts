import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { compactSize, u32, u64 } from '#kernel/bitcoin/transaction-bytes.ts';

/** The usual transaction version. It is the first version with active relative lock times (BIP 68). */
const usualVersion = 2;

export interface UnsignedInput {
  /** Txid in internal byte order. */
  readonly txid: Uint8Array;
  readonly vout: number;
}

export interface UnsignedOutput {
  /** Value in sats. */
  readonly value: number | bigint;
  readonly script: Uint8Array;
}

/** Serializes an unsigned transaction, with empty input scripts, no witness and no lock time. */
export function unsignedTransaction(
  inputs: readonly UnsignedInput[],
  outputs: readonly UnsignedOutput[],
  version: number = usualVersion,
): Uint8Array {
  const parts: Uint8Array[] = [u32(version), compactSize(inputs.length)];
  for (const { txid, vout } of inputs) parts.push(txid, u32(vout), compactSize(0), u32(replaceableSequence));
  parts.push(compactSize(outputs.length));
  for (const { value, script } of outputs) parts.push(u64(BigInt(value)), compactSize(script.length), script);
  parts.push(u32(0));
  return Buffer.concat(parts);
}
