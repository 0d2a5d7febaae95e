import { compactSizeAt, compactSizeLength } from '#indexer/transaction/compact-size.ts';

/** Thrown if bytes end too early, or if a length is not in its shortest form. */
export class BrokenBytes extends Error {
  /** Offset of the byte at which the fault is. */
  readonly at: number;

  constructor(at: number) {
    super(`the bytes are broken at ${at}`);
    this.at = at;
  }
}

/** Reads one field after another from bytes. All reads return views, and throw `BrokenBytes`. */
export class ByteCursor {
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  #at = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  get at(): number {
    return this.#at;
  }

  get isAtEnd(): boolean {
    return this.#at === this.#bytes.length;
  }

  take(length: number): Uint8Array {
    const start = this.#at;
    // not `start + length > end`, because the length may be larger than any number of bytes
    if (length > this.#bytes.length - start) throw new BrokenBytes(this.#bytes.length);
    this.#at += length;
    return this.#bytes.subarray(start, this.#at);
  }

  u8(): number {
    return this.#view.getUint8(this.#skip(1));
  }

  u32(): number {
    return this.#view.getUint32(this.#skip(4), true);
  }

  u64(): bigint {
    return this.#view.getBigUint64(this.#skip(8), true);
  }

  compactSize(): number {
    const at = this.#at;
    const value = compactSizeAt(this.#bytes, at, this.#bytes.length);
    if (value < 0) throw new BrokenBytes(at);
    this.#skip(compactSizeLength(this.#bytes[at] ?? 0));
    return value;
  }

  /** Reads a length, and then as many bytes. */
  sized(): Uint8Array {
    return this.take(this.compactSize());
  }

  /** Skips bytes, and returns their start. */
  #skip(length: number): number {
    const start = this.#at;
    this.take(length);
    return start;
  }
}
