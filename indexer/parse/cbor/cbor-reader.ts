import { isUtf8 } from 'node:buffer';

/** Major types of RFC 8949, 3.1. */
export const major = {
  unsigned: 0,
  negative: 1,
  bytes: 2,
  text: 3,
  array: 4,
  map: 5,
  tag: 6,
  other: 7,
} as const;

/** Additional information 31 means an indefinite length, or the break. */
const indefinite = 31;

/** Error for input that is not CBOR. It is never thrown out of this folder. */
export class CborError extends Error {
  constructor() {
    super('not well-formed');
  }
}

/**
 * Reads CBOR headers and strings by offset. Every step moves forward, and no memory is allocated for a length that is
 * only claimed. Reading therefore takes time linear in the input, for any bytes.
 */
export class CborReader {
  readonly bytes: Buffer;
  at = 0;
  /** The last header: its major type, additional information and argument. */
  major = 0;
  info = 0;
  /** Rounded if above 2^53; `argumentHigh` and `argumentLow` are exact. 0 for an indefinite length. */
  argument = 0;
  argumentHigh = 0;
  argumentLow = 0;

  constructor(bytes: Uint8Array) {
    this.bytes = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  }

  /** Reads a header. Throws at the end of the input and for reserved additional information. */
  head(): void {
    const initial = this.#byte();
    this.major = initial >> 5;
    this.info = initial & 0x1f;
    this.argumentHigh = 0;
    if (this.info < 24) this.argumentLow = this.info;
    else this.#longArgument();
    this.argument = this.argumentHigh * 2 ** 32 + this.argumentLow;
  }

  #longArgument(): void {
    this.argumentLow = 0;
    if (this.info === 24) {
      this.argumentLow = this.#byte();
    } else if (this.info === 25) {
      this.argumentLow = this.bytes.readUInt16BE(this.#skip(2));
    } else if (this.info === 26) {
      this.argumentLow = this.bytes.readUInt32BE(this.#skip(4));
    } else if (this.info === 27) {
      const from = this.#skip(8);
      this.argumentHigh = this.bytes.readUInt32BE(from);
      this.argumentLow = this.bytes.readUInt32BE(from + 4);
    } else if (this.info !== indefinite) {
      throw new CborError();
    }
  }

  get isIndefinite(): boolean {
    return this.info === indefinite;
  }

  /** Whether the last header is the break that ends an item of indefinite length. */
  get isBreak(): boolean {
    return this.major === major.other && this.info === indefinite;
  }

  /** Whether the next byte is the break. Throws at the end of the input. */
  nextIsBreak(): boolean {
    if (this.at >= this.bytes.length) throw new CborError();
    return this.bytes[this.at] === 0xff;
  }

  /** The integer of the last header, exact. */
  integer(): bigint {
    const value = (BigInt(this.argumentHigh) << 32n) | BigInt(this.argumentLow);
    return this.major === major.negative ? -1n - value : value;
  }

  /**
   * The content of a byte string whose header was just read. The result is a view if the string has a definite length.
   */
  byteString(): Buffer {
    if (!this.isIndefinite) return this.#take(this.argument);
    // measure the length first, because an object per chunk would take hundreds of times the bytes of empty chunks
    const from = this.at;
    let length = 0;
    while (this.#nextChunk(major.bytes)) length += this.argument;
    const content = Buffer.alloc(length);
    this.at = from;
    for (let to = 0; this.#nextChunk(major.bytes); to += this.argument) {
      if (this.argument > 0) this.bytes.copy(content, to, this.at - this.argument, this.at);
    }
    return content;
  }

  /** The content of a text string whose header was just read. Each chunk must be UTF-8 on its own. */
  textString(): string {
    if (!this.isIndefinite) return this.#utf8(this.#take(this.argument));
    let text = '';
    while (this.#nextChunk(major.text)) {
      if (this.argument > 0) text += this.#utf8(this.bytes.subarray(this.at - this.argument, this.at));
    }
    return text;
  }

  /**
   * Skips the next chunk, of `argument` bytes, of a string of that type. At the end of the string, skips the break and
   * returns false.
   */
  #nextChunk(type: number): boolean {
    this.head();
    if (this.isBreak) return false;
    if (this.major !== type || this.isIndefinite) throw new CborError();
    this.#skip(this.argument);
    return true;
  }

  #utf8(bytes: Buffer): string {
    if (!isUtf8(bytes)) throw new CborError();
    return bytes.toString('utf8');
  }

  #byte(): number {
    const byte = this.bytes[this.at++];
    if (byte === undefined) throw new CborError();
    return byte;
  }

  /** Skips `length` bytes and returns their offset. */
  #skip(length: number): number {
    const from = this.at;
    if (from + length > this.bytes.length) throw new CborError();
    this.at = from + length;
    return from;
  }

  #take(length: number): Buffer {
    const from = this.#skip(length);
    return this.bytes.subarray(from, this.at);
  }
}
