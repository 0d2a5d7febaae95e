import { compactSizeBytes } from './transaction-size.ts';

/** A number of a transaction in four bytes, least significant byte first. */
export function u32(value: number): Buffer {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(value);
  return bytes;
}

/** An amount of a transaction in eight bytes, least significant byte first. */
export function u64(value: bigint): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64LE(value);
  return bytes;
}

/** A count or a length below 2^32, in one, three or five bytes (CompactSize). */
export function compactSize(value: number): Buffer {
  const length = compactSizeBytes(value);
  if (length === 1) return Buffer.of(value);
  const bytes = Buffer.alloc(length);
  bytes[0] = length === 3 ? 0xfd : 0xfe;
  bytes.writeUIntLE(value, 1, length - 1);
  return bytes;
}
