import { CborError, CborReader, major } from './cbor-reader.ts';

/** Version of the rules below and of docs/adr/0003-cbor.md, stored with the data that they made. */
export const cborRulesVersion = 1;

/**
 * Maximum nesting of arrays, maps and tags. ord's reader (ciborium) fails on deeper nesting, so deeper metadata is
 * treated as absent.
 */
const depthMax = 256;
/**
 * Maximum number of characters of the JSON text. Metadata with a longer text is treated as absent. JSON is longer than
 * its CBOR: six characters for an escaped byte of text, up to 22 for a float of three bytes. If the keys of maps are
 * maps, escapes double at every level, so a few bytes could make a text of any length.
 */
const jsonLengthMax = 4_000_000;
const charactersPerByteMax = 32;
const charactersMin = 64;
/** Maximum bytes of a bignum. ord's reader does not accept longer bignums as numbers either. */
const bignumBytesMax = 16;

const simple = { false: 20, true: 21, null: 22, undefined: 23 } as const;
const bignumTag = { positive: 2, negative: 3 } as const;

class JsonWriter {
  readonly #reader: CborReader;
  #depth = 0;
  /** Number of characters written so far. Characters of keys are counted again for each enclosing level of keys. */
  #written = 0;
  readonly #writtenMax: number;

  constructor(reader: CborReader) {
    this.#reader = reader;
    this.#writtenMax = Math.min(jsonLengthMax, charactersMin + charactersPerByteMax * reader.bytes.length);
  }

  /** Reads the next item and returns its JSON text. */
  value(): string {
    this.#reader.head();
    return this.#item();
  }

  #item(): string {
    const reader = this.#reader;
    switch (reader.major) {
      case major.unsigned:
      case major.negative:
        return this.#integer();
      case major.bytes:
        return this.#count(`"${reader.byteString().toString('hex')}"`);
      case major.text:
        return this.#count(JSON.stringify(reader.textString()));
      case major.array:
        return this.#nested(() => this.#array());
      case major.map:
        return this.#nested(() => this.#map());
      case major.tag:
        return this.#tag();
      default:
        return this.#other();
    }
  }

  #integer(): string {
    if (this.#reader.isIndefinite) throw new CborError();
    return this.#count(integerJson(this.#reader.integer()));
  }

  #array(): string {
    const items: string[] = [];
    this.#each(() => items.push(this.#item()));
    return this.#count(`[${items.join(',')}]`, items.length + 2);
  }

  #map(): string {
    const members: string[] = [];
    this.#each(() => {
      const key = this.#item();
      const name = key.startsWith('"') ? key : this.#count(JSON.stringify(key));
      members.push(`${name}:${this.value()}`);
    });
    return this.#count(`{${members.join(',')}}`, members.length * 2 + 2);
  }

  /** Calls `member` after the header of each item or key of the array or map whose header was just read. */
  #each(member: () => void): void {
    const reader = this.#reader;
    const count = reader.isIndefinite ? Infinity : reader.argument;
    for (let index = 0; index < count; index++) {
      reader.head();
      if (reader.isBreak && count === Infinity) return;
      member();
    }
  }

  #tag(): string {
    const reader = this.#reader;
    if (reader.isIndefinite) throw new CborError();
    const tag = reader.argument;
    if (tag === bignumTag.positive || tag === bignumTag.negative) return this.#bignum(tag);
    // a tag says how to interpret a value; it does not change the value itself
    return this.#nested(() => this.value());
  }

  #bignum(tag: number): string {
    const reader = this.#reader;
    reader.head();
    if (reader.major !== major.bytes) throw new CborError();
    let bytes = reader.byteString();
    while (bytes[0] === 0) bytes = bytes.subarray(1);
    if (bytes.length > bignumBytesMax) return this.#count(`"${bytes.toString('hex')}"`);
    const value = BigInt(`0x0${bytes.toString('hex')}`);
    if (tag === bignumTag.positive) return this.#count(integerJson(value));
    // ord's reader stores the number in 128 signed bits
    if (value >> 127n !== 0n) throw new CborError();
    return this.#count(integerJson(-1n - value));
  }

  #other(): string {
    const reader = this.#reader;
    // additional information 24 may also name a simple value below 32, which ord's reader accepts
    if (reader.info <= 24) return this.#count(simpleJson(reader.argumentLow));
    if (reader.isBreak) throw new CborError();
    const number = floatOf(reader);
    return this.#count(Number.isFinite(number) ? JSON.stringify(number) : 'null');
  }

  #nested(write: () => string): string {
    if (this.#depth === depthMax) throw new CborError();
    this.#depth++;
    const text = write();
    this.#depth--;
    return text;
  }

  #count(text: string, characters = text.length): string {
    this.#written += characters;
    if (this.#written > this.#writtenMax) throw new CborError();
    return text;
  }
}

/** The integer as a number if JavaScript's JSON readers keep it exactly, else its digits in a string. */
function integerJson(value: bigint): string {
  const exact = value <= BigInt(Number.MAX_SAFE_INTEGER) && value >= BigInt(Number.MIN_SAFE_INTEGER);
  return exact ? value.toString() : `"${value}"`;
}

function simpleJson(value: number): string {
  switch (value) {
    case simple.false:
      return 'false';
    case simple.true:
      return 'true';
    case simple.null:
    case simple.undefined:
      return 'null';
    default:
      throw new CborError();
  }
}

function floatOf(reader: CborReader): number {
  const view = new DataView(new ArrayBuffer(8));
  if (reader.info === 25) return halfFloat(reader.argumentLow);
  if (reader.info === 26) {
    view.setUint32(0, reader.argumentLow);
    return view.getFloat32(0);
  }
  view.setUint32(0, reader.argumentHigh);
  view.setUint32(4, reader.argumentLow);
  return view.getFloat64(0);
}

/** Decodes IEEE 754 binary16 (RFC 8949, appendix D, has the same in C). */
function halfFloat(bits: number): number {
  const sign = bits & 0x8000 ? -1 : 1;
  const exponent = (bits >> 10) & 0x1f;
  const fraction = bits & 0x3ff;
  if (exponent === 0) return sign * fraction * 2 ** -24;
  if (exponent === 31) return fraction === 0 ? sign * Infinity : Number.NaN;
  return sign * (1024 + fraction) * 2 ** (exponent - 25);
}

/**
 * Canonical JSON text of CBOR metadata: the same bytes always give the same text, with members in the order of the
 * bytes. Null if ord's reader does not accept the bytes, or if the text would exceed the limits above. Bytes after the
 * first item are ignored, as in ord. docs/adr/0003-cbor.md describes the values that JSON cannot express.
 */
export function cborToJson(cbor: Uint8Array): string | null {
  try {
    return new JsonWriter(new CborReader(cbor)).value();
  } catch (error) {
    if (error instanceof CborError) return null;
    throw error;
  }
}
