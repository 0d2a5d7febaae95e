import { brotliCompressSync } from 'node:zlib';
import { ByteWriter } from '#test/builders/byte-writer.ts';
import { type Envelope, tag, writeEnvelope } from '#test/builders/envelope.ts';
import type { Random } from '#test/builders/random.ts';

/** Existing inscriptions, as values for fields of an envelope. */
export interface Named {
  readonly parents: readonly Uint8Array[];
  readonly delegate: Uint8Array | null;
}

const words = 'sat block stone moon ÉLAN Straße мир 創世 🟧 brc-20 mint {"p":"sns"} <b> 100% a_b'.split(' ');
const types = [
  'text/plain;charset=utf-8',
  'application/json',
  'text/html',
  'image/png',
  'image/svg+xml',
  'text/javascript',
  '',
];
const unknownEvenTag = 22; // ord: an unknown even tag makes an inscription unbound
const unknownOddTag = 23;
const pointerMax = 3000; // about the value of a transaction's outputs, so that some pointers are beyond them
/** Bytes that are not a valid CBOR item. */
const brokenMetadata = Buffer.from('bf61ff', 'hex');

function chosen<Value>(random: Random, values: readonly Value[]): Value {
  return values[random.below(values.length)] as Value;
}

function randomBytes(random: Random, length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  random.fill(bytes, 0, length);
  return bytes;
}

/**
 * A text of random words and a number. Most numbers are unique. The others come from a small range, so that texts
 * repeat.
 */
export function randomText(random: Random): string {
  const count = 1 + random.below(6);
  const list = Array.from({ length: count }, () => chosen(random, words));
  return `${list.join(' ')} n${random.below(random.unit() < 0.3 ? 20 : 1_000_000)}`;
}

function randomBody(random: Random): Uint8Array | null {
  const way = random.unit();
  if (way < 0.05) return null;
  if (way < 0.1) return new Uint8Array(0);
  if (way < 0.2) return randomBytes(random, 1 + random.below(200));
  return Buffer.from(randomText(random));
}

/** A CBOR map (RFC 8949) of one short text to a number, or sometimes broken CBOR. */
function randomMetadata(random: Random): Uint8Array {
  if (random.unit() < 0.2) return brokenMetadata;
  const name = Buffer.from(`k${random.below(50)}`);
  return Buffer.from([0xa1, 0x60 + name.length, ...name, random.below(24)]);
}

function smallNumber(value: number): Uint8Array {
  const bytes: number[] = [];
  for (let rest = value; rest > 0; rest = Math.floor(rest / 256)) bytes.push(rest % 256);
  return Uint8Array.from(bytes);
}

/** An envelope with fields of every kind that ord distinguishes. */
export function randomEnvelope(random: Random, named: Named): Envelope {
  const fields: [number, Uint8Array][] = [];
  const sometimes = (share: number, field: number, value: () => Uint8Array): void => {
    if (random.unit() < share) fields.push([field, value()]);
  };
  let body = randomBody(random);
  sometimes(0.92, tag.contentType, () => Buffer.from(chosen(random, types)));
  sometimes(0.03, tag.contentType, () => Buffer.from('text/duplicate'));
  sometimes(0.15, tag.pointer, () => smallNumber(random.below(pointerMax)));
  for (const parent of named.parents) fields.push([tag.parent, parent]);
  sometimes(0.15, tag.metadata, () => randomMetadata(random));
  sometimes(0.05, tag.metaprotocol, () => Buffer.from(chosen(random, ['brc-20', 'cbrc', ''])));
  if (named.delegate !== null) fields.push([tag.delegate, named.delegate]);
  sometimes(0.03, tag.rune, () => randomBytes(random, 4));
  sometimes(0.03, tag.note, () => Buffer.from('note'));
  sometimes(0.05, unknownEvenTag, () => randomBytes(random, 2));
  sometimes(0.03, unknownOddTag, () => randomBytes(random, 2));
  if (body !== null && random.unit() < 0.08) {
    fields.push([tag.contentEncoding, Buffer.from('br')]);
    // some contents claim to be brotli, but are not
    if (random.unit() < 0.8) body = brotliCompressSync(body);
  }
  return { fields, body };
}

const opFalse = 0x00;
const opIf = 0x63;

/** A tapscript of envelopes that runs to its end and leaves nothing on the stack. */
export function plainEnvelopes(envelopes: readonly Envelope[]): Uint8Array {
  const out = new ByteWriter(512);
  for (const envelope of envelopes) writeEnvelope(out, envelope);
  return out.copy();
}

/**
 * The bytes that ord reads as a script. They have one or several envelopes, some with the oddities that ord knows. Not
 * every such script could be run.
 */
export function oddScript(random: Random, envelopes: readonly Envelope[]): Uint8Array {
  const out = new ByteWriter(512);
  for (const envelope of envelopes) {
    // stutter: the beginning of an envelope directly before another envelope
    if (random.unit() < 0.04) out.u8(opFalse);
    if (random.unit() < 0.02) {
      out.u8(opFalse);
      out.u8(opIf);
    }
    const start = out.length;
    writeEnvelope(out, envelope);
    // an opcode that pushes a number instead of a piece of the body (pushnum), or a field without its value
    if (random.unit() < 0.03) {
      out.length -= 1;
      out.u8(0x51);
      out.u8(0x68);
    }
    // cut the envelope off in the middle, so that it is no inscription
    if (random.unit() < 0.02) out.length = start + Math.floor((out.length - start) / 2);
  }
  return out.copy();
}
