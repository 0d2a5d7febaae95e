import { brotliCompressSync, constants } from 'node:zlib';
import type { Envelope } from '#test/builders/envelope.ts';
import { tag } from '#test/builders/envelope.ts';
import type { Random } from '#test/builders/random.ts';

/**
 * Ord decodes properties of at most 4,000,000 bytes, and of at most 30 bytes for each inscribed byte. An attacker
 * cannot get more for bytes on chain.
 */
const decodedBytesMax = 4_000_000;
const ratioMax = 30;
const txidBytes = 32;
/** Size in bytes of an empty item, and of its packed txid. */
const itemBytes = 1 + txidBytes;
const encodingTag = 19;

function head(major: number, length: number): Buffer {
  const bytes = Buffer.alloc(5);
  bytes.writeUInt8(major | 26, 0);
  bytes.writeUInt32BE(length, 1);
  return bytes;
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value);
  return Buffer.concat([head(0x60, bytes.length), bytes]);
}

/**
 * The most expensive gallery that is possible: 134 kB of brotli on chain are 121,000 items, whose JSON has 14 MB. The
 * items are packed txids (properties.rs), and nearly all txids are the same. The other txids are random, and there are
 * just enough of them to stay below the ratio.
 */
export function dearGallery(random: Random, name: string, share = 1): Envelope {
  const size = Math.floor(decodedBytesMax * share) - 1000;
  const items = Math.floor(size / itemBytes);
  const txids = Buffer.alloc(items * txidBytes, 0xab);
  random.fill(txids, 0, Math.ceil((size / ratioMax) * 1.02));
  const attributes = Buffer.concat([
    head(0xa0, 2),
    Buffer.from([0]),
    text(`Gallery ${name}`),
    Buffer.from([1]),
    head(0xa0, 1),
    text('Hurts'),
    text(name),
  ]);
  const cbor = Buffer.concat([
    head(0xa0, 3),
    Buffer.from([0]),
    head(0x80, items),
    Buffer.alloc(items, 0xa0),
    Buffer.from([1]),
    attributes,
    Buffer.from([2]),
    head(0x40, txids.length),
    txids,
  ]);
  const params = { [constants.BROTLI_PARAM_QUALITY]: 5, [constants.BROTLI_PARAM_LGWIN]: 22 };
  const packed = brotliCompressSync(cbor, { params });
  return {
    fields: [
      [tag.contentType, Buffer.from('text/plain;charset=utf-8')],
      [encodingTag, Buffer.from('br')],
      [tag.properties, packed],
    ],
    body: Buffer.from(`gallery ${name}`),
  };
}
