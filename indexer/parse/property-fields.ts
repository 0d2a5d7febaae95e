import { itemBytes } from '#chain/snapshot/gallery-pages.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { noAttributes } from '#kernel/text/properties-text.ts';
import { type BlockColumns, type FieldKind, fieldKinds } from './block-columns.ts';
import type { ItemAttributes, PropertyParts } from './properties.ts';

const hashBytes = 32;
/**
 * Number of bytes of an item's JSON, except the digits of its index and its attributes: `{"id":"`, 64 hex digits, `i`,
 * `","attributes":` and `}`.
 */
const itemJsonBytes = 7 + 64 + 1 + 15 + 1;
/** Number of bytes of `{"gallery":[`, `],"attributes":` and `}`. */
const frameJsonBytes = 12 + 15 + 1;

/** Number of bytes of the position and the length, which precede the JSON of each item's attributes. */
const attributesHeadBytes = 8;

/** The properties of an inscription as fields of a block's columns: bytes, most of them UTF-8. */
export interface PropertyFields {
  /** Title and traits as ord shows them, in JSON. */
  readonly attributes: Uint8Array;
  /** Texts that searches read (src/kernel/text/property-texts.ts). Null: no text. */
  readonly title: Uint8Array | null;
  readonly traits: Uint8Array | null;
  /** The items of the gallery, `itemBytes` each. */
  readonly ids: Uint8Array;
  /** Attributes of the items that have attributes: position, length (four bytes each, little endian) and JSON. */
  readonly itemAttributes: Uint8Array;
}

export function propertyFields({
  attributes,
  title,
  traits,
  ids,
  itemAttributes,
}: PropertyParts): PropertyFields {
  return {
    attributes: Buffer.from(attributes),
    title: title === null ? null : Buffer.from(title),
    traits: traits === null ? null : Buffer.from(traits),
    ids,
    itemAttributes: Buffer.concat(itemAttributes.map(packed)),
  };
}

const noBytes = new Uint8Array(0);

/** The properties of an envelope, as views of a block's columns. Null: it has no properties. */
export function propertiesOf(columns: BlockColumns, envelope: number): PropertyFields | null {
  const attributes = fieldOf(columns, envelope, fieldKinds.attributes);
  if (attributes === null) return null;
  return {
    attributes,
    title: fieldOf(columns, envelope, fieldKinds.searchedTitle),
    traits: fieldOf(columns, envelope, fieldKinds.searchedTraits),
    ids: fieldOf(columns, envelope, fieldKinds.galleryIds) ?? noBytes,
    itemAttributes: fieldOf(columns, envelope, fieldKinds.galleryAttributes) ?? noBytes,
  };
}

function fieldOf(
  { arena, envelopeFirstField, fieldKind, fieldRange }: BlockColumns,
  envelope: number,
  kind: FieldKind,
): Uint8Array | null {
  const end = envelopeFirstField[envelope + 1]!;
  for (let field = envelopeFirstField[envelope]!; field < end; field++) {
    if (fieldKind[field] !== kind) continue;
    const start = fieldRange[field * 2]!;
    return arena.subarray(start, start + fieldRange[field * 2 + 1]!);
  }
  return null;
}

function packed({ position, json }: ItemAttributes): Buffer {
  const length = Buffer.byteLength(json);
  const bytes = Buffer.allocUnsafe(attributesHeadBytes + length);
  bytes.writeUInt32LE(position, 0);
  bytes.writeUInt32LE(length, 4);
  bytes.write(json, attributesHeadBytes);
  return bytes;
}

/** Range of one item's attributes within the attributes of all items. */
export interface AttributesRange {
  readonly position: number;
  readonly start: number;
  readonly end: number;
}

/** The attributes of items, in the order of their positions. */
export function* attributesOfItems(itemAttributes: Uint8Array): Generator<AttributesRange> {
  const view = new DataView(itemAttributes.buffer, itemAttributes.byteOffset, itemAttributes.byteLength);
  for (let at = 0; at < itemAttributes.length; ) {
    const start = at + attributesHeadBytes;
    const end = start + view.getUint32(at + 4, true);
    yield { position: view.getUint32(at, true), start, end };
    at = end;
  }
}

type ShownFields = Pick<PropertyFields, 'attributes' | 'ids' | 'itemAttributes'>;

/** Number of UTF-8 bytes of the JSON that ord shows for properties. */
export function jsonBytesOf({ attributes, ids, itemAttributes }: ShownFields): number {
  const items = ids.length / itemBytes;
  let bytes = frameJsonBytes + attributes.length + items * (itemJsonBytes + noAttributes.length);
  const view = new DataView(ids.buffer, ids.byteOffset, ids.byteLength);
  for (let item = 0; item < items; item++) {
    bytes += String(view.getUint32(item * itemBytes + hashBytes, true)).length;
  }
  for (const { start, end } of attributesOfItems(itemAttributes)) bytes += end - start - noAttributes.length;
  return bytes + Math.max(items - 1, 0);
}

/** The JSON that ord shows for properties. */
export function propertiesJson({ attributes, ids, itemAttributes }: ShownFields): string {
  const own = Buffer.from(attributes.buffer, attributes.byteOffset, attributes.byteLength);
  const shown = Buffer.from(ids.buffer, ids.byteOffset, ids.byteLength);
  const others = Buffer.from(itemAttributes.buffer, itemAttributes.byteOffset, itemAttributes.byteLength);
  const ranges = attributesOfItems(itemAttributes);
  let next = ranges.next();
  const items: string[] = [];
  for (let at = 0; at < shown.length; at += itemBytes) {
    const hash = displayHash(shown.subarray(at, at + hashBytes));
    let json = noAttributes;
    if (next.done !== true && next.value.position * itemBytes === at) {
      json = others.toString('utf8', next.value.start, next.value.end);
      next = ranges.next();
    }
    items.push(`{"id":"${hash}i${shown.readUInt32LE(at + hashBytes)}","attributes":${json}}`);
  }
  return `{"gallery":[${items.join(',')}],"attributes":${own.toString()}}`;
}
