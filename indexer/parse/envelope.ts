import { copyBytes } from '#kernel/copy-bytes.ts';
import { envelopeTags as tags } from '#kernel/primitives/envelope-tag.ts';
import type { Arena } from './arena.ts';
import { type FieldKind, fieldKinds } from './block-columns.ts';
import type { BlockTables } from './block-tables.ts';
import { cborToJson } from './cbor/cbor-json.ts';
import type { ContentCollector } from './content-collector.ts';
import type { DerivedBudget } from './derived-budget.ts';
import { DistinctMetadata, DistinctTypes } from './distinct.ts';
import { envelopeFlags } from './envelope-flags.ts';
import { inscriptionIdBytes, isInscriptionId } from './inscription-id-field.ts';
import { propertyParts } from './properties.ts';
import { jsonBytesOf, type PropertyFields, propertyFields } from './property-fields.ts';
import { pushedNumber, type ScriptScan, scanBits } from './witness-script.ts';

/** Fields that are stored unchanged. Each is the first value of its tag. */
const plainFields: readonly (readonly [tag: number, kind: FieldKind])[] = [
  [tags.contentEncoding, fieldKinds.contentEncoding],
  [tags.metaprotocol, fieldKinds.metaprotocol],
  [tags.pointer, fieldKinds.pointer],
  [tags.propertyEncoding, fieldKinds.propertyEncoding],
  [tags.rune, fieldKinds.rune],
  [tags.note, fieldKinds.note],
];

/** Which values of a tag are stored in fields of their own: none, the first, all, or valid ids. */
const kept = { none: 0, first: 1, all: 2, firstId: 3, allIds: 4 } as const;
const keptOf = new Uint8Array(256);
for (const [tag] of plainFields) keptOf[tag] = kept.first;
keptOf[tags.contentType] = kept.first;
keptOf[tags.metadata] = kept.all;
keptOf[tags.properties] = kept.all;
keptOf[tags.delegate] = kept.firstId;
keptOf[tags.parent] = kept.allIds;

/** Maximum number of long keys (longer than one byte) for which a linear search is cheaper than a set. */
const longKeysLinearMax = 16;

/** The fields of properties, in the order in which they are stored. */
const propertyKinds: readonly (readonly [name: keyof PropertyFields, kind: FieldKind])[] = [
  ['attributes', fieldKinds.attributes],
  ['title', fieldKinds.searchedTitle],
  ['traits', fieldKinds.searchedTraits],
  ['ids', fieldKinds.galleryIds],
  ['itemAttributes', fieldKinds.galleryAttributes],
];

/** Rows of table f that contain the properties of an envelope, and their size in the block's budget. */
interface PropertyRows {
  readonly first: number;
  readonly end: number;
  readonly jsonBytes: number;
}

/** Turns the items of scanned scripts into rows of envelopes: ord's `ParsedEnvelope`, without objects. */
export class EnvelopeReader {
  readonly #tables: BlockTables;
  readonly #contents: ContentCollector;
  readonly #budget: DerivedBudget;
  readonly #types: DistinctTypes;
  readonly #metadata: DistinctMetadata;
  /**
   * Fields made from properties, by their encoding and raw bytes, so that copies are not decoded again. Null: there are
   * no fields.
   */
  readonly #propertiesRows = new Map<string, PropertyRows | null>();
  /** Bytes and items of the script; valid while `add` runs. */
  #block: Uint8Array = new Uint8Array(0);
  #scan: ScriptScan | null = null;
  /**
   * For the current envelope: the number of occurrences of each one-byte tag (2: more than once), and its first pair.
   */
  readonly #tagCount = new Uint8Array(256);
  readonly #tagFirst = new Int32Array(256);
  #longKeys = 0;
  #keyFlags = 0;
  #mayLeave = false;

  constructor(tables: BlockTables, contents: ContentCollector, budget: DerivedBudget) {
    this.#tables = tables;
    this.#contents = contents;
    this.#budget = budget;
    this.#types = new DistinctTypes(tables.types, tables.arena);
    this.#metadata = new DistinctMetadata(tables.metadata, tables.arena, budget);
  }

  reset(): void {
    this.#types.reset();
    this.#metadata.reset();
    this.#propertiesRows.clear();
  }

  /** Adds the envelopes found in the script of an input. */
  add(block: Uint8Array, scan: ScriptScan, input: number): void {
    this.#block = block;
    this.#scan = scan;
    for (let index = 0; index < scan.envelopes; index++) this.#addEnvelope(scan, index, input);
  }

  #addEnvelope(scan: ScriptScan, index: number, input: number): void {
    const { envelopes, fields } = this.#tables;
    const row = envelopes.length;
    envelopes.reserve(row + 1);
    const first = scan.envelopeFirstItem[index]!;
    const end = scan.envelopeFirstItem[index + 1]!;
    const bits = scan.envelopeBits[index]!;
    let flags = index > 0 ? envelopeFlags.notAtOffsetZero : 0;
    if ((bits & scanBits.pushnum) !== 0) flags |= envelopeFlags.pushnum;
    if ((bits & scanBits.stutter) !== 0) flags |= envelopeFlags.stutter;

    const body = this.#countTags(scan, first, end);
    const pairsEnd = body < 0 ? end : body;
    if (body >= 0) flags |= envelopeFlags.body;
    if (((pairsEnd - first) & 1) !== 0) flags |= envelopeFlags.incompleteField;
    flags |= this.#longKeys === 0 ? this.#keyFlags : this.#keyFlags | this.#longKeyFlags(first, pairsEnd);
    envelopes.input[row] = input;
    envelopes.flags[row] = flags;
    envelopes.pointer[row] = Number.NaN;
    envelopes.metadata[row] = -1;
    envelopes.firstField[row] = fields.length;
    const type = this.#contentType();
    envelopes.type[row] = type;
    if (!this.#isPlain(first, pairsEnd)) this.#addFields(row, first, pairsEnd);
    envelopes.content[row] = body < 0 ? -1 : this.#addContent(type, body + 1, end);
    this.#clearTags(first, pairsEnd);
    envelopes.length = row + 1;
  }

  /**
   * Counts the tags up to the body. Returns the body's index (-1: there is no body). Collects flags in `keyFlags`. Sets
   * `mayLeave` if some pair may be in no field.
   */
  #countTags(scan: ScriptScan, first: number, end: number): number {
    const tagCount = this.#tagCount;
    const tagFirst = this.#tagFirst;
    const block = this.#block;
    const { itemStart, itemLength } = scan;
    this.#longKeys = 0;
    this.#keyFlags = 0;
    this.#mayLeave = false;
    for (let item = first; item < end; item += 2) {
      const length = itemLength[item]!;
      if (length === 0) return item;
      // a key without a value is not a field
      if (item + 1 === end) break;
      if (length > 1) {
        this.#longKeys++;
        this.#mayLeave = true;
        continue;
      }
      const byte = block[itemStart[item]!]!;
      const tag = length === 1 ? byte : pushedNumber(byte);
      const count = tagCount[tag]!;
      if (count === 0) tagFirst[tag] = item;
      if (count < 2) {
        tagCount[tag] = count + 1;
        this.#keyFlags |= tagFlags(tag, count);
        const rule = keptOf[tag]!;
        if (rule !== kept.all && (rule !== kept.first || count > 0)) this.#mayLeave = true;
      }
    }
    return -1;
  }

  /** Clears only the counts of these pairs' tags, because they are few and there are 256 counters. */
  #clearTags(first: number, end: number): void {
    const tagCount = this.#tagCount;
    for (let item = first; item < end; item += 2) {
      const tag = this.#tag(item);
      if (tag >= 0) tagCount[tag] = 0;
    }
  }

  #longKeyFlags(first: number, end: number): number {
    let flags = 0;
    const seen: string[] = [];
    const seenMany = this.#longKeys > longKeysLinearMax ? new Set<string>() : null;
    for (let item = first; item + 1 < end; item += 2) {
      if (this.#length(item) < 2) continue;
      const key = this.#bytes(item);
      if ((key[0]! & 1) === 0) flags |= envelopeFlags.unrecognizedEvenField;
      const name = key.toString('latin1');
      if (seenMany === null ? seen.includes(name) : seenMany.has(name)) flags |= envelopeFlags.duplicateField;
      if (seenMany === null) seen.push(name);
      else seenMany.add(name);
    }
    return flags;
  }

  /** Whether only a content type precedes the body. */
  #isPlain(first: number, end: number): boolean {
    return end - first < 2 || (end - first < 4 && this.#tagCount[tags.contentType] === 1);
  }

  #contentType(): number {
    if (this.#tagCount[tags.contentType] === 0) return -1;
    const item = this.#tagFirst[tags.contentType]! + 1;
    const { itemStart, itemLength } = this.#scan as ScriptScan;
    const length = itemLength[item]!;
    if (length >= 0) return this.#types.indexOf(this.#block, itemStart[item]!, length);
    return this.#types.indexOf(this.#bytes(item), 0, 1);
  }

  #addContent(type: number, item: number, end: number): number {
    const { arena } = this.#tables;
    const start = arena.align();
    for (let piece = item; piece < end; piece++) this.#copyItem(arena, piece);
    const encoding =
      this.#tagCount[tags.contentEncoding] === 0 ? null : this.#firstValue(tags.contentEncoding);
    return this.#contents.add(start, encoding, type >= 0 && this.#types.isSearchable(type));
  }

  #addFields(row: number, first: number, end: number): void {
    const { envelopes, arena } = this.#tables;
    for (const [tag, kind] of plainFields) {
      if (this.#tagCount[tag] === 0) continue;
      const start = arena.length;
      this.#copyItem(arena, this.#tagFirst[tag]! + 1);
      this.#addFieldRange(kind, start);
      if (tag === tags.pointer) envelopes.pointer[row] = pointerValue(arena.bytes, start, arena.length);
    }
    if (this.#tagCount[tags.delegate] !== 0) {
      const delegate = this.#firstValue(tags.delegate);
      if (isInscriptionId(delegate)) this.#addField(fieldKinds.delegate, inscriptionIdBytes(delegate));
    }
    if (this.#tagCount[tags.parent] !== 0) this.#addParents(first, end);
    if (this.#tagCount[tags.metadata] !== 0) this.#addMetadata(row, first, end);
    if (this.#tagCount[tags.properties] !== 0) this.#addProperties(first, end);
    if (this.#mayLeave) this.#addUnknownFields(first, end);
  }

  #addParents(first: number, end: number): void {
    const ids: Uint8Array[] = [];
    for (let item = first; item + 1 < end; item += 2) {
      if (this.#tag(item) !== tags.parent) continue;
      const value = this.#bytes(item + 1);
      if (isInscriptionId(value)) ids.push(inscriptionIdBytes(value));
    }
    if (ids.length > 0) this.#addField(fieldKinds.claimedParents, Buffer.concat(ids));
  }

  #addMetadata(row: number, first: number, end: number): void {
    const cbor = this.#wholeValue(tags.metadata, first, end);
    this.#addField(fieldKinds.metadata, cbor);
    this.#tables.envelopes.metadata[row] = this.#metadata.indexOf(cbor, cborToJson);
  }

  #addProperties(first: number, end: number): void {
    const raw = this.#wholeValue(tags.properties, first, end);
    this.#addField(fieldKinds.properties, raw);
    const encoding =
      this.#tagCount[tags.propertyEncoding] === 0 ? null : this.#firstValue(tags.propertyEncoding);
    const name = `${encoding?.length ?? ''} ${encoding?.toString('latin1') ?? ''}${raw.toString('latin1')}`;
    const known = this.#propertiesRows.get(name);
    if (known === undefined) {
      this.#propertiesRows.set(name, this.#addPropertyFields(raw, encoding));
    } else if (known !== null && this.#budget.take(known.jsonBytes)) {
      const { fields } = this.#tables;
      for (let row = known.first; row < known.end; row++) {
        const { length } = fields;
        fields.reserve(length + 1);
        fields.kind[length] = fields.kind[row]!;
        fields.range.copyWithin(length * 2, row * 2, row * 2 + 2);
        fields.length = length + 1;
      }
    }
  }

  /** The fields made from the properties. Null: there are no fields, or the budget is exceeded. */
  #addPropertyFields(raw: Uint8Array, encoding: Uint8Array | null): PropertyRows | null {
    const parts = propertyParts(raw, encoding, this.#budget);
    if (parts === null) return null;
    const fields = propertyFields(parts);
    const jsonBytes = jsonBytesOf(fields);
    if (!this.#budget.take(jsonBytes)) return null;
    const first = this.#tables.fields.length;
    for (const [name, kind] of propertyKinds) {
      const bytes = fields[name];
      if (bytes !== null && bytes.length > 0) this.#addField(kind, bytes);
    }
    return { first, end: this.#tables.fields.length, jsonBytes };
  }

  /** Adds every pair that no field above contains, including invalid or repeated values of known tags. */
  #addUnknownFields(first: number, end: number): void {
    const { arena } = this.#tables;
    const start = arena.length;
    for (let item = first; item + 1 < end; item += 2) {
      if (this.#isKept(item)) continue;
      for (const part of [this.#bytes(item), this.#bytes(item + 1)]) {
        arena.pushCompactSize(part.length);
        arena.append(part);
      }
    }
    if (arena.length > start) this.#addFieldRange(fieldKinds.unknownFields, start);
  }

  #isKept(item: number): boolean {
    const tag = this.#tag(item);
    const rule = tag < 0 ? kept.none : keptOf[tag]!;
    if (rule === kept.none) return false;
    if (rule === kept.all) return true;
    if (rule !== kept.allIds && this.#tagFirst[tag] !== item) return false;
    return rule === kept.first || isInscriptionId(this.#bytes(item + 1));
  }

  #addField(kind: FieldKind, value: Uint8Array): void {
    const { arena } = this.#tables;
    const start = arena.length;
    arena.append(value);
    this.#addFieldRange(kind, start);
  }

  #addFieldRange(kind: FieldKind, start: number): void {
    const { fields, arena } = this.#tables;
    const row = fields.length;
    fields.reserve(row + 1);
    fields.kind[row] = kind;
    fields.range[row * 2] = start;
    fields.range[row * 2 + 1] = arena.length - start;
    fields.length = row + 1;
  }

  #firstValue(tag: number): Buffer {
    return this.#bytes(this.#tagFirst[tag]! + 1);
  }

  /** The concatenated values of a tag. The result is a view if only one value is not empty. */
  #wholeValue(tag: number, first: number, end: number): Buffer {
    let size = 0;
    let chunks = 0;
    let last = first;
    for (let item = first; item + 1 < end; item += 2) {
      const length = this.#length(item + 1);
      if (length === 0 || this.#tag(item) !== tag) continue;
      size += length < 0 ? 1 : length;
      chunks++;
      last = item;
    }
    if (chunks === 1) return this.#bytes(last + 1);
    const whole = Buffer.alloc(size);
    for (let item = first, to = 0; to < size; item += 2) {
      const length = this.#length(item + 1);
      if (length === 0 || this.#tag(item) !== tag) continue;
      const start = (this.#scan as ScriptScan).itemStart[item + 1]!;
      if (length < 0) whole[to++] = pushedNumber(this.#block[start]!);
      else copyBytes(this.#block, start, length, whole, to);
      if (length > 0) to += length;
    }
    return whole;
  }

  /** The one-byte tag of a pair. -1: the key is longer. */
  #tag(item: number): number {
    const length = this.#length(item);
    if (length > 1) return -1;
    const byte = this.#block[(this.#scan as ScriptScan).itemStart[item]!]!;
    return length === 1 ? byte : pushedNumber(byte);
  }

  #length(item: number): number {
    return (this.#scan as ScriptScan).itemLength[item]!;
  }

  /** The bytes of an item, as a view of the block if possible. */
  #bytes(item: number): Buffer {
    const start = (this.#scan as ScriptScan).itemStart[item]!;
    const length = this.#length(item);
    if (length < 0) return Buffer.from([pushedNumber(this.#block[start]!)]);
    return Buffer.from(this.#block.buffer as ArrayBuffer, this.#block.byteOffset + start, length);
  }

  #copyItem(arena: Arena, item: number): void {
    const { itemStart, itemLength } = this.#scan as ScriptScan;
    const start = itemStart[item]!;
    const length = itemLength[item]!;
    if (length < 0) arena.push(pushedNumber(this.#block[start]!));
    else arena.copy(this.#block, start, length);
  }
}

/** The flags of one more occurrence of a one-byte tag that has already occurred `before` times. */
function tagFlags(tag: number, before: number): number {
  let flags = before > 0 ? envelopeFlags.duplicateField : 0;
  // the pointer is the only even tag that is consumed, and only its first value is consumed
  if (tag === tags.pointer) flags |= envelopeFlags.pointer;
  if ((tag & 1) === 0 && (tag !== tags.pointer || before > 0)) flags |= envelopeFlags.unrecognizedEvenField;
  return flags;
}

/**
 * The value of a pointer field (ord inscription.rs, `pointer`), in little endian. Bytes after the eighth must be zero.
 * NaN: the value is invalid, or is 2^53 and above.
 */
export function pointerValue(bytes: Uint8Array, start: number, end: number): number {
  for (let at = start + 8; at < end; at++) if (bytes[at] !== 0) return Number.NaN;
  let pointer = 0;
  for (let at = Math.min(start + 8, end) - 1; at >= start; at--) {
    pointer = pointer * 256 + bytes[at]!;
  }
  return Number.isSafeInteger(pointer) ? pointer : Number.NaN;
}
