import { copyBytes } from '#kernel/copy-bytes.ts';

const firstCapacity = 1 << 20;

/** A buffer of bytes that only grows until it is reset; it is reused from block to block. */
export class Arena {
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(firstCapacity);
  /** The buffer as words, for data at a multiple of four (`align`). */
  words = new Int32Array(this.bytes.buffer);
  length = 0;

  /** Makes room for `size` more bytes after `length`. */
  reserve(size: number): void {
    const needed = this.length + size;
    if (needed <= this.bytes.length) return;
    const bytes = new Uint8Array(Math.max((needed + 3) & ~3, this.bytes.length * 2));
    bytes.set(this.bytes.subarray(0, this.length));
    this.bytes = bytes;
    this.words = new Int32Array(bytes.buffer);
  }

  /** Moves to the next multiple of four, and returns it. */
  align(): number {
    this.reserve(3);
    this.length = (this.length + 3) & ~3;
    return this.length;
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
      return;
    }
    const width = size <= 0xffff ? 2 : 4;
    this.push(width === 2 ? 0xfd : 0xfe);
    for (let byte = 0; byte < width; byte++) this.push((size >>> (byte * 8)) & 0xff);
  }
}
