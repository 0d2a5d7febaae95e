import { pushedNumber, ScriptScan, scanBits, scanScript } from '#indexer/parse/witness-script.ts';
import { leafScript } from '#indexer/transaction/leaf-script.ts';
import type { RawTransaction } from '#indexer/transaction/raw-transaction.ts';
import { runestoneJson } from './runestone-json.ts';

/** Tags of ord's tag.rs that the answer shows, by their field in the answer. */
const firstValues = [
  ['content_encoding', 9],
  ['content_type', 1],
  ['delegate', 11],
] as const;
const wholeValues = { metadata: 5, properties: 17 } as const;
const parentTag = 3;
const pointerTag = 2;
const onceValues = { metaprotocol: 7, pointer: pointerTag, property_encoding: 19, rune: 13 } as const;

/**
 * An envelope, as positions of its items in a script. Items are read one at a time, because a transaction can have
 * millions of items, and one object per item would take too much memory.
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
 * All envelopes of a transaction, including envelopes that reveal nothing (in a coinbase). A returned envelope is valid
 * until the next envelope is requested.
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

/** The value of an item that has one byte. Null for any other item. */
function byteOf({ scan, script }: Envelope, item: number): number | null {
  const length = scan.itemLength[item]!;
  const byte = script[scan.itemStart[item]!]!;
  if (length < 0) return pushedNumber(byte);
  return length === 1 ? byte : null;
}

/** Number of items that are read in one step. A step takes a millisecond. */
const itemsAtOnce = 8 * 1024;
const isStepEnd = (count: number): boolean => count > 0 && count % itemsAtOnce === 0;

/** The body of ord's `/decode/<txid>`, in pieces (`joined`). Bytes are arrays of numbers, as in ord. */
export function* decodeJson(transaction: RawTransaction): Generator<string> {
  yield '{"inscriptions":[';
  let isFirst = true;
  for (const envelope of envelopesOf(transaction)) {
    if (!isFirst) yield ',';
    isFirst = false;
    yield* envelopeJson(envelope);
  }
  yield '],"runestone":';
  yield* runestoneJson(transaction.outputs);
  yield '}';
}

function* envelopeJson(envelope: Envelope): Generator<string> {
  const { scan, input, offset, end } = envelope;
  const fields = yield* readFields(envelope);
  const { bodyAt, values } = fields;
  const bits = scan.envelopeBits[offset]!;
  const field = function* field(name: string, tag: number): Generator<string> {
    yield `,"${name}":`;
    yield* numbersOrNull(envelope, values.get(tag) ?? null);
  };
  yield `{"input":${input},"offset":${offset},"payload":{"body":`;
  yield* numbersOrNull(envelope, bodyAt === end ? null : itemsBetween(bodyAt + 1, end));
  for (const [name, tag] of firstValues) yield* field(name, tag);
  yield `,"duplicate_field":${fields.hasDuplicate}`;
  yield `,"incomplete_field":${(bodyAt - envelope.first) % 2 === 1}`;
  yield* field('metadata', wholeValues.metadata);
  yield* field('metaprotocol', onceValues.metaprotocol);
  yield ',"parents":[';
  for (const [place, parent] of (values.get(parentTag) ?? []).entries()) {
    if (place > 0) yield ',';
    if (isStepEnd(place)) yield '';
    yield* numbersOrNull(envelope, [parent]);
  }
  yield ']';
  yield* field('pointer', onceValues.pointer);
  yield* field('properties', wholeValues.properties);
  yield* field('property_encoding', onceValues.property_encoding);
  yield* field('rune', onceValues.rune);
  yield `,"unrecognized_even_field":${fields.hasUnrecognizedEven}}`;
  yield `,"pushnum":${(bits & scanBits.pushnum) !== 0},"stutter":${(bits & scanBits.stutter) !== 0}}`;
}

function* itemsBetween(first: number, end: number): Generator<number> {
  for (let item = first; item < end; item++) yield item;
}

/** The fields of an envelope that the answer needs. */
interface Fields {
  /**
   * Position of the item that opens the body. This is the first empty item at an even position. If there is no body, it
   * is the end of the envelope.
   */
  readonly bodyAt: number;
  /** Positions of the values of shown tags, by tag. A tag has all its values, or only the first value (`shownOnce`). */
  readonly values: ReadonlyMap<number, readonly number[]>;
  readonly hasDuplicate: boolean;
  readonly hasUnrecognizedEven: boolean;
}

/** Tags of which only the first value is shown. Of the other tags, all values are shown. */
const shownOnce = new Set<number>([...firstValues.map(([, tag]) => tag), ...Object.values(onceValues)]);
const shownWhole = new Set<number>([...Object.values(wholeValues), parentTag]);

/**
 * Reads the fields, and yields an empty piece after each step. An envelope may have two million fields of two bytes
 * each.
 */
function* readFields(envelope: Envelope): Generator<string, Fields> {
  const { scan, first, end } = envelope;
  const values = new Map<number, number[]>();
  const keys = new KeysSeen();
  let hasUnrecognizedEven = false;
  let item = first;
  // the last item may be a key without a value, which is ignored
  for (; item + 1 < end && scan.itemLength[item] !== 0; item += 2) {
    if (isStepEnd(item - first)) yield '';
    const tag = byteOf(envelope, item);
    keys.see(tag ?? Buffer.from(itemOf(envelope, item)).toString('latin1'));
    const isEven = (tag ?? envelope.script[scan.itemStart[item]!]!) % 2 === 0;
    // the pointer is the only recognized even tag, and only its first value counts
    if (isEven && (tag !== pointerTag || values.has(tag))) hasUnrecognizedEven = true;
    if (tag !== null) keepValue(values, tag, item + 1);
  }
  const bodyAt = item < end && scan.itemLength[item] === 0 ? item : end;
  return { bodyAt, values, hasDuplicate: keys.hasTwins, hasUnrecognizedEven };
}

/** Remembers the keys of fields until the first duplicate. Keys of only one or two bytes are soon duplicates. */
class KeysSeen {
  readonly #keys = new Set<number | string>();
  hasTwins = false;

  see(key: number | string): void {
    if (this.hasTwins) return;
    this.hasTwins = this.#keys.has(key);
    if (this.hasTwins) this.#keys.clear();
    else this.#keys.add(key);
  }
}

function keepValue(values: Map<number, number[]>, tag: number, item: number): void {
  const known = values.get(tag);
  if (known === undefined) {
    if (shownOnce.has(tag) || shownWhole.has(tag)) values.set(tag, [item]);
  } else if (shownWhole.has(tag)) {
    known.push(item);
  }
}

/** Maximum number of bytes that become text in one piece. */
const numbersAtOnce = 16 * 1024;

/** The concatenated bytes of items, as an array of numbers. If `items` is null, the text is `null`. */
function* numbersOrNull(envelope: Envelope, items: Iterable<number> | null): Generator<string> {
  if (items === null) {
    yield 'null';
    return;
  }
  let text = '[';
  let comma = '';
  let count = 0;
  for (const item of items) {
    const byte = byteOf(envelope, item);
    if (byte === null) {
      const bytes = itemOf(envelope, item);
      for (let at = 0; at < bytes.length; at += numbersAtOnce) {
        yield `${text}${comma}${bytes.subarray(at, at + numbersAtOnce).join(',')}`;
        text = '';
        comma = ',';
      }
    } else {
      text += `${comma}${byte}`;
      comma = ',';
    }
    // items may be empty, so `text` may be empty too
    if (!isStepEnd(++count)) continue;
    yield text;
    yield '';
    text = '';
  }
  yield `${text}]`;
}
