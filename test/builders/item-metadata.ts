import { ByteWriter } from './byte-writer.ts';
import type { Random } from './random.ts';

/** Metadata of an item of a collection. */
export interface ItemMetadata {
  /** Canonical JSON, in the form that searches read. */
  readonly json: string;
  /** CBOR (RFC 8949), the inscribed form. */
  readonly cbor: Uint8Array;
}

const collections = 2000;
const traits: Readonly<Record<string, readonly string[]>> = {
  Background: ['Blue', 'Orange', 'Graphite', 'Off White', 'Satoshi', 'Void'],
  Body: ['Stone', 'Frog', 'Ape', 'Wizard', 'Node', 'Pixel'],
  Eyes: ['Laser', 'Closed', 'Wide', 'Glasses', 'X', 'Diamond'],
  Hat: ['None', 'Crown', 'Cap', 'Halo', 'Beanie'],
};

/** Metadata like that of mainnet's collections: a name with a number, and some traits. */
export class ItemMetadataSource {
  readonly #random: Random;
  readonly #share: number;

  constructor(random: Random, share: number) {
    this.#random = random;
    this.#share = share;
  }

  /** `null` if the next inscription has no metadata. */
  next(): ItemMetadata | null {
    const random = this.#random;
    if (random.unit() >= this.#share) return null;
    // few collections have most of the items
    const collection = Math.floor(random.unit() ** 3 * collections);
    const attributes = Object.entries(traits).map(([name, values]) => ({
      trait_type: name,
      value: values[random.below(values.length)] as string,
    }));
    const value = { name: `Collection ${collection} #${1 + random.below(10_000)}`, attributes };
    const out = new ByteWriter(256);
    writeCbor(out, value);
    return { json: JSON.stringify(value), cbor: out.copy() };
  }
}

type CborValue = string | readonly CborValue[] | { readonly [name: string]: CborValue };

/** Writes the head of a CBOR item. The length must be below 2^16. */
function writeHead(out: ByteWriter, major: number, length: number): void {
  if (length < 24) out.u8(major | length);
  else if (length < 256) {
    out.u8(major | 24);
    out.u8(length);
  } else {
    out.u8(major | 25);
    out.u8(length >> 8);
    out.u8(length & 0xff);
  }
}

function writeCbor(out: ByteWriter, value: CborValue): void {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value);
    writeHead(out, 0x60, bytes.length);
    out.set(bytes);
  } else if (Array.isArray(value)) {
    writeHead(out, 0x80, value.length);
    for (const item of value as readonly CborValue[]) writeCbor(out, item);
  } else {
    const members = Object.entries(value as Record<string, CborValue>);
    writeHead(out, 0xa0, members.length);
    for (const [name, member] of members) {
      writeCbor(out, name);
      writeCbor(out, member);
    }
  }
}
