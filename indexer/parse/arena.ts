/** Shorter copies are done byte by byte: making the two views that `set` needs costs more than 64 bytes. */
const byteLoopMax = 64;
const firstCapacity = 1 << 20;

/** Copies `length` bytes of `source` from `start` on to `to` of `target`. */
export function copyBytes(
  source: Uint8Array,
  start: number,
  length: number,
  target: Uint8Array,
  to: number,
): void {
  if (length <= byteLoopMax) {
    for (let index = 0; index < length; index++) target[to + index] = source[start + index] as number;
  } else {
    target.set(source.subarray(start, start + length), to);
  }
}

/** Bytes that only grow until they are reset, in one buffer that lives on between blocks. */
export class Arena {
  bytes: Buffer<ArrayBuffer> = Buffer.from(new ArrayBuffer(firstCapacity));
  length = 0;

  /** Makes room for `size` more bytes behind `length`. */
  reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    const bytes = Buffer.from(new ArrayBuffer(Math.max(needed, this.bytes.length * 2)));
    bytes.set(this.bytes.subarray(0, this.length));
    this.bytes = bytes;
  }

  /** Appends `length` bytes of `source` from `start` on. */
  copy(source: Uint8Array, start: number, length: number): void {
    this.reserve(length);
    copyBytes(source, start, length, this.bytes, this.length);
    this.length += length;
  }

  append(source: Uint8Array): void {
    this.copy(source, 0, source.length);
  }

  push(byte: number): void {
    this.reserve(1);
    this.bytes[this.length++] = byte;
  }

  /** Appends a compact size (Bitcoin's variable-length count); below 2^32. */
  pushCompactSize(size: number): void {
    if (size < 0xfd) {
      this.push(size);
    } else if (size <= 0xffff) {
      this.push(0xfd);
      this.reserve(2);
      this.length = this.bytes.writeUInt16LE(size, this.length);
    } else {
      this.push(0xfe);
      this.reserve(4);
      this.length = this.bytes.writeUInt32LE(size, this.length);
    }
  }
}
