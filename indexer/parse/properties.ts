import { type PropertyTexts, propertyTexts } from '#kernel/text/property-texts.ts';
import { CborError, CborReader, major } from './cbor/cbor-reader.ts';
import { decodeBytes, outputLengthMax, propertyLimits } from './content-decoding.ts';
import { DerivedBudget } from './derived-budget.ts';
import { inscriptionIdBytes, isInscriptionId } from './inscription-id-field.ts';

type Trait = string | number | bigint | boolean | null;

interface Attributes {
  title: string | null;
  traits: readonly (readonly [name: string, value: Trait])[];
}

interface Item {
  /** The id of 36 bytes. Null: the item names no id. */
  id: Uint8Array | null;
  attributes: Attributes;
  /** Index of a packed id. */
  index: number;
}

interface Properties {
  gallery: Item[];
  attributes: Attributes;
  /** The txids of the items in order, 32 bytes each. */
  txids: Buffer | null;
}

/** A gallery while it is read. */
interface GalleryReading {
  items: Item[];
  /** Items from this position on cannot get a packed id. */
  readonly packedMax: number;
  isDropped: boolean;
  /** The object into which the next item is read. */
  item: Item;
}

/** The properties of an inscription after parsing (chain.properties, chain.gallery_pages, chain.gallery_attributes). */
export interface PropertyParts extends PropertyTexts {
  /** Title and traits as ord shows them, in JSON. */
  readonly attributes: string;
  /** The ids of the gallery's items, 36 bytes each. */
  readonly ids: Buffer;
  /** The attributes of the items that have attributes. */
  readonly itemAttributes: readonly ItemAttributes[];
}

export interface ItemAttributes {
  /** Position of the item, starting at 0. */
  readonly position: number;
  /** JSON, in the form that ord shows. */
  readonly json: string;
}

const emptyItem = (): Item => ({ id: null, attributes: noAttributes, index: 0 });
const noAttributes: Attributes = { title: null, traits: [] };
const u32Max = 0xffffffff;
const i64Min = -(2n ** 63n);
const i64Max = 2n ** 63n - 1n;
const simpleNull = 0xf6;

/**
 * The value that ord shows under `properties` of an inscription, made from the fields 17 and 19 (null: absent). Null if
 * they decode to nothing. Rules: ord properties.rs and inscription.rs, 0.29.1, with everything that their CBOR reader
 * accepts: indefinite outer maps, galleries and items, unknown keys, bytes after the value. `budget` is the rest of the
 * block's budget, which ord does not have. The result is null if the budget is too small.
 */
export function propertyParts(
  properties: Uint8Array,
  encoding: Uint8Array | null,
  budget: DerivedBudget = new DerivedBudget(),
): PropertyParts | null {
  const cbor = encoding === null ? properties : decodeProperties(properties, encoding, budget);
  if (cbor === null) return null;
  if (!budget.takeProperties(cbor.length)) {
    budget.waste(cbor.length);
    return null;
  }
  try {
    const decoded = readProperties(new CborReader(cbor));
    const gallery = galleryIds(decoded);
    if (gallery.length === 0 && isEmpty(decoded.attributes)) return null;
    const { title, traits } = decoded.attributes;
    return {
      attributes: attributesJson(decoded.attributes),
      ...propertyTexts(
        title,
        traits.map(([name, value]) => [name, String(value)]),
      ),
      ids: Buffer.concat(gallery.map(({ id }) => id as Uint8Array)),
      itemAttributes: gallery.flatMap(({ attributes }, position) =>
        isEmpty(attributes) ? [] : { position, json: attributesJson(attributes) },
      ),
    };
  } catch (error) {
    if (error instanceof CborError) return null;
    throw error;
  }
}

function decodeProperties(
  properties: Uint8Array,
  encoding: Uint8Array,
  budget: DerivedBudget,
): Uint8Array | null {
  const isBrotli = encoding.length === 2 && encoding[0] === 0x62 && encoding[1] === 0x72;
  if (!isBrotli || !budget.mayWaste) return null;
  const decoded = decodeBytes('br', properties, propertyLimits);
  if (decoded === null) budget.waste(outputLengthMax(properties.length, propertyLimits));
  return decoded;
}

/** Packed txids override the ids of their items; one item without an id removes the whole gallery. */
function galleryIds({ gallery, txids }: Properties): Item[] {
  const packed = txids === null ? 0 : Math.floor(txids.length / 32);
  gallery.slice(0, packed).forEach((item, place) => {
    const id = Buffer.alloc(36);
    txids?.copy(id, 0, place * 32, place * 32 + 32);
    id.writeUInt32LE(item.index, 32);
    item.id = id;
  });
  return gallery.every((item) => item.id !== null) ? gallery : [];
}

function readProperties(reader: CborReader): Properties {
  const properties: Properties = { gallery: [], attributes: noAttributes, txids: null };
  readFields(reader, properties, readPropertiesField);
  return properties;
}

function readPropertiesField(reader: CborReader, key: number, properties: Properties): boolean {
  if (key === 0) properties.gallery = readGallery(reader);
  else if (key === 1) properties.attributes = readAttributes(reader);
  else if (key === 2) properties.txids = readBytes(reader);
  else return false;
  return true;
}

function readGallery(reader: CborReader): Item[] {
  const gallery: GalleryReading = {
    items: [],
    // the bytes cannot contain more txids than this
    packedMax: Math.floor(reader.bytes.length / 32),
    isDropped: false,
    item: emptyItem(),
  };
  reader.head();
  if (reader.major !== major.array) throw new CborError();
  const { isIndefinite } = reader;
  for (let left = reader.argument; isIndefinite ? !reader.nextIsBreak() : left > 0; left--) {
    readGalleryItem(reader, gallery);
  }
  if (isIndefinite) reader.at++;
  return gallery.items;
}

/** Reads an item. If an item without an id has removed the gallery, the following items are only checked. */
function readGalleryItem(reader: CborReader, gallery: GalleryReading): void {
  const { item } = gallery;
  readFields(reader, item, readItemField);
  if (!gallery.isDropped && item.id === null && gallery.items.length >= gallery.packedMax) {
    gallery.isDropped = true;
    gallery.items = [];
  }
  if (!gallery.isDropped) {
    gallery.items.push(item);
    gallery.item = emptyItem();
  }
}

function readItemField(reader: CborReader, key: number, item: Item): boolean {
  if (key === 0) item.id = readOptional(reader, readId);
  else if (key === 1) item.attributes = readAttributes(reader);
  else if (key === 2) item.index = readOptional(reader, readU32) ?? 0;
  else return false;
  return true;
}

function readAttributes(reader: CborReader): Attributes {
  const attributes: Attributes = { title: null, traits: [] };
  readFields(reader, attributes, readAttributesField);
  return attributes;
}

function readAttributesField(reader: CborReader, key: number, attributes: Attributes): boolean {
  if (key === 0) attributes.title = readOptional(reader, readText);
  else if (key === 1) attributes.traits = readTraits(reader);
  else return false;
  return true;
}

function readTraits(reader: CborReader): [string, Trait][] {
  reader.head();
  if (reader.major !== major.map || reader.isIndefinite) throw new CborError();
  const traits = new Map<string, Trait>();
  for (let left = reader.argument; left > 0; left--) {
    const name = readText(reader);
    if (traits.has(name)) throw new CborError();
    traits.set(name, readTrait(reader));
  }
  return [...traits];
}

function readTrait(reader: CborReader): Trait {
  const from = reader.at;
  reader.head();
  if (reader.major === major.text) {
    reader.at = from;
    return readText(reader);
  }
  if (reader.major <= major.negative && !reader.isIndefinite) {
    const value = reader.integer();
    if (value < i64Min || value > i64Max) throw new CborError();
    return value;
  }
  const simple = reader.major === major.other && reader.info < 24 ? reader.info : -1;
  if (simple === 20 || simple === 21) return simple === 21;
  if (simple === 22) return null;
  throw new CborError();
}

/** Reads a map with integer keys. `field` reads the value of a known key; other values are skipped. */
function readFields<T>(
  reader: CborReader,
  into: T,
  field: (reader: CborReader, key: number, into: T) => boolean,
): void {
  reader.head();
  if (reader.major !== major.map) throw new CborError();
  const { isIndefinite } = reader;
  for (let left = reader.argument; isIndefinite ? !reader.nextIsBreak() : left > 0; left--) {
    if (!field(reader, readKey(reader), into)) skipItem(reader);
  }
  if (isIndefinite) reader.at++;
}

/** The next integer. -1 stands for every negative integer. */
function readKey(reader: CborReader): number {
  reader.head();
  if (reader.major > major.negative || reader.isIndefinite) throw new CborError();
  // keys are signed 64-bit integers in ord's reader
  if (reader.argumentHigh > 0x7fffffff) throw new CborError();
  return reader.major === major.negative ? -1 : reader.argument;
}

function readOptional<T>(reader: CborReader, read: (reader: CborReader) => T): T | null {
  if (reader.bytes[reader.at] !== simpleNull) return read(reader);
  reader.at++;
  return null;
}

function readText(reader: CborReader): string {
  reader.head();
  if (reader.major !== major.text || reader.isIndefinite) throw new CborError();
  return reader.textString();
}

function readBytes(reader: CborReader): Buffer {
  reader.head();
  if (reader.major !== major.bytes || reader.isIndefinite) throw new CborError();
  return reader.byteString();
}

function readId(reader: CborReader): Uint8Array {
  const value = readBytes(reader);
  if (!isInscriptionId(value)) throw new CborError();
  return inscriptionIdBytes(value);
}

function readU32(reader: CborReader): number {
  reader.head();
  if (reader.major !== major.unsigned || reader.isIndefinite) throw new CborError();
  if (reader.argument > u32Max) throw new CborError();
  return reader.argument;
}

/** Skips one well-formed item. Open levels are counted in an array, so depth costs memory, not stack. */
function skipItem(reader: CborReader): void {
  // number of remaining items on each open level; Infinity: until the break
  const left: number[] = [1];
  while (left.length > 0) {
    const level = left.length - 1;
    const open = left[level]!;
    if (open === 0) {
      left.pop();
      continue;
    }
    reader.head();
    if (reader.isBreak) {
      if (open !== Infinity) throw new CborError();
      left.pop();
      continue;
    }
    left[level] = open - 1;
    skipContent(reader, left);
  }
}

function skipContent(reader: CborReader, left: number[]): void {
  switch (reader.major) {
    case major.bytes:
      reader.byteString();
      return;
    case major.text:
      reader.textString();
      return;
    case major.array:
      left.push(reader.isIndefinite ? Infinity : reader.argument);
      return;
    case major.map:
      left.push(reader.isIndefinite ? Infinity : reader.argument * 2);
      return;
    case major.tag:
      if (reader.isIndefinite) throw new CborError();
      left.push(1);
      return;
    default:
      if (reader.isIndefinite) throw new CborError();
  }
}

const isEmpty = (attributes: Attributes): boolean =>
  attributes.title === null && attributes.traits.length === 0;

function attributesJson({ title, traits }: Attributes): string {
  const members = traits.map(([name, value]) => `${JSON.stringify(name)}:${traitJson(value)}`);
  return `{"title":${JSON.stringify(title)},"traits":{${members.join(',')}}}`;
}

const traitJson = (value: Trait): string =>
  typeof value === 'bigint' ? value.toString() : JSON.stringify(value);
