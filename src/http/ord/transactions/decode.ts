import { pushedNumber, ScriptScan, scanBits, scanScript } from '#indexer/parse/witness-script.ts';
import type { RawTransaction } from '#indexer/transaction/raw-transaction.ts';

const annexPrefix = 0x50;

/**
 * The script that ord searches: the last item but one, without the annex, for any kind of spent output (docs of
 * rust-bitcoin's P2TrSpend).
 */
function leafScript(witness: readonly Uint8Array[]): Uint8Array | null {
  const count = witness.length;
  if (count < 2) return null;
  const hasAnnex = witness[count - 1]?.[0] === annexPrefix;
  if (!hasAnnex) return witness[count - 2] ?? null;
  return count === 2 ? null : (witness[count - 3] ?? null);
}

/** Tags of ord's tag.rs that the answer shows, by its field. */
const firstValues = [
  ['content_encoding', 9],
  ['content_type', 1],
  ['delegate', 11],
] as const;
const wholeValues = { metadata: 5, properties: 17 } as const;
const parentTag = 3;
const pointerTag = 2;
const laterValues = [
  ['metaprotocol', 7],
  ['pointer', pointerTag],
  ['property_encoding', 19],
  ['rune', 13],
] as const;

/**
 * An envelope, as positions of its items in a script. Items are read one at a time: a transaction can have millions,
 * and an object for each would be too much.
 */
interface Envelope {
  readonly script: Uint8Array;
  readonly scan: ScriptScan;
  readonly input: number;
  readonly offset: number;
  readonly first: number;
  readonly end: number;
}

/**
 * All envelopes of a transaction, including those that reveal nothing (a coinbase's). Each is valid until the next is
 * requested.
 */
function* envelopesOf({ inputs }: RawTransaction): Generator<Envelope> {
  const scan = new ScriptScan();
  for (const [input, { witness }] of inputs.entries()) {
    const script = leafScript(witness);
    if (script === null) continue;
    const count = scanScript(scan, script, 0, script.length);
    for (let offset = 0; offset < count; offset++) {
      const first = scan.envelopeFirstItem[offset]!;
      const end = scan.envelopeFirstItem[offset + 1]!;
      yield { script, scan, input, offset, first, end };
    }
  }
}

function itemOf({ scan, script }: Envelope, item: number): Uint8Array {
  const start = scan.itemStart[item]!;
  const length = scan.itemLength[item]!;
  return length < 0 ? Uint8Array.of(pushedNumber(script[start]!)) : script.subarray(start, start + length);
}

/** The body of ord's `/decode/<txid>`, without the runestone, in pieces. Bytes are arrays of numbers, as in ord. */
export function* decodeJson(transaction: RawTransaction): Generator<string> {
  yield '{"inscriptions":[';
  let isFirst = true;
  for (const envelope of envelopesOf(transaction)) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield* envelopeJson(envelope);
  }
  yield ']}';
}

function* envelopeJson(envelope: Envelope): Generator<string> {
  const { scan, input, offset, end } = envelope;
  const pairsEnd = bodyPlace(envelope);
  const fields = fieldsOf(envelope, pairsEnd);
  const bits = scan.envelopeBits[offset]!;
  const field = function* field(name: string, items: readonly number[] | undefined): Generator<string> {
    yield `,"${name}":`;
    yield* numbersOrNull(envelope, items ?? null);
  };
  yield `{"input":${input},"offset":${offset},"payload":{"body":`;
  yield* numbersOrNull(envelope, pairsEnd === end ? null : itemsBetween(pairsEnd + 1, end));
  for (const [name, tag] of firstValues) yield* field(name, fields.get(tagKey(tag))?.slice(0, 1));
  yield `,"duplicate_field":${[...fields.values()].some((values) => values.length > 1)}`;
  yield `,"incomplete_field":${(pairsEnd - envelope.first) % 2 === 1}`;
  yield* field('metadata', fields.get(tagKey(wholeValues.metadata)));
  yield ',"parents":[';
  for (const [place, parent] of (fields.get(tagKey(parentTag)) ?? []).entries()) {
    if (place > 0) yield ',';
    yield* numbersOrNull(envelope, [parent]);
  }
  yield ']';
  yield* field('properties', fields.get(tagKey(wholeValues.properties)));
  for (const [name, tag] of laterValues) yield* field(name, fields.get(tagKey(tag))?.slice(0, 1));
  yield `,"unrecognized_even_field":${hasUnrecognizedEven(fields)}}`;
  yield `,"pushnum":${(bits & scanBits.pushnum) !== 0},"stutter":${(bits & scanBits.stutter) !== 0}}`;
}

/** The item that opens the body: the first empty one at an even position; the end where there is no body. */
function bodyPlace({ scan, first, end }: Envelope): number {
  for (let item = first; item < end; item += 2) if (scan.itemLength[item] === 0) return item;
  return end;
}

function* itemsBetween(first: number, end: number): Generator<number> {
  for (let item = first; item < end; item++) yield item;
}

const tagKey = (tag: number): string => String.fromCharCode(tag);

/** Positions of values by key, with keys as latin-1. */
function fieldsOf(envelope: Envelope, pairsEnd: number): Map<string, number[]> {
  const fields = new Map<string, number[]>();
  for (let item = envelope.first; item + 1 < pairsEnd; item += 2) {
    const key = Buffer.from(itemOf(envelope, item)).toString('latin1');
    const values = fields.get(key);
    if (values === undefined) fields.set(key, [item + 1]);
    else values.push(item + 1);
  }
  return fields;
}

/** Of the tags with fields, only the pointer is even; its first value counts. */
function hasUnrecognizedEven(fields: ReadonlyMap<string, readonly number[]>): boolean {
  return [...fields].some(([key, values]) => {
    if (key.charCodeAt(0) % 2 !== 0) return false;
    return key !== tagKey(pointerTag) || values.length > 1;
  });
}

/** Numbers converted to text in one piece. */
const numbersAtOnce = 16 * 1024;

/** The concatenated bytes of items. */
function* numbersOrNull(envelope: Envelope, items: Iterable<number> | null): Generator<string> {
  if (items === null) {
    yield 'null';
    return;
  }
  yield '[';
  let isFirst = true;
  for (const item of items) {
    const bytes = itemOf(envelope, item);
    for (let at = 0; at < bytes.length; at += numbersAtOnce) {
      yield `${isFirst ? '' : ','}${bytes.subarray(at, at + numbersAtOnce).join(',')}`;
      isFirst = false;
    }
  }
  yield ']';
}
