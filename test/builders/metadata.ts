import { ByteWriter } from './byte-writer.ts';
import type { Random } from './random.ts';

/** CBOR (RFC 8949) of a small map of texts and numbers. */
export function metadataOf(random: Random): Uint8Array {
  const out = new ByteWriter(64);
  const string = (value: string): void => {
    out.u8(0x60 + value.length);
    out.set(Buffer.from(value));
  };
  out.u8(0xa2);
  string('name');
  string(`#${random.below(10_000)}`);
  string('rank');
  out.u8(0x19);
  out.u8(random.below(256));
  out.u8(random.below(256));
  return out.copy();
}
