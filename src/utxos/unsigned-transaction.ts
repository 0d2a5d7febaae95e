import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { compactSizeBytes } from '#kernel/bitcoin/transaction-size.ts';

const version = 2;

export interface UnsignedInput {
  /** Internal order. */
  readonly txid: Uint8Array;
  readonly vout: number;
}

export interface UnsignedOutput {
  readonly value: number;
  readonly script: Uint8Array;
}

/** The bytes of a transaction that nobody has signed: empty scripts, no witness, no lock time. */
export function unsignedTransaction(
  inputs: readonly UnsignedInput[],
  outputs: readonly UnsignedOutput[],
): Uint8Array {
  const parts: Uint8Array[] = [u32(version), compactSize(inputs.length)];
  for (const { txid, vout } of inputs) parts.push(txid, u32(vout), compactSize(0), u32(replaceableSequence));
  parts.push(compactSize(outputs.length));
  for (const { value, script } of outputs) parts.push(u64(value), compactSize(script.length), script);
  parts.push(u32(0));
  return Buffer.concat(parts);
}

function u32(value: number): Uint8Array {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

function u64(value: number): Uint8Array {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(BigInt(value));
  return bytes;
}

function compactSize(value: number): Uint8Array {
  const length = compactSizeBytes(value);
  if (length === 1) return Uint8Array.of(value);
  const bytes = Buffer.alloc(length);
  bytes[0] = length === 3 ? 0xfd : 0xfe;
  bytes.writeUIntLE(value, 1, length - 1);
  return bytes;
}
