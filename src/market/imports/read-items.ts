import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { CollectionItem } from '#market/collections/collection.store.ts';
import { nameOf } from '#market/collections/collection-texts.ts';
import { type ImportFaults, invalid, optional } from './import-faults.ts';
import { TraitReader } from './read-traits.ts';
import { ItemSplitter, itemsFile } from './split-items.ts';

export interface CollectionItems {
  /** The items without duplicates, in the order of the file. */
  readonly items: readonly CollectionItem[];
  /** Number of items that were ignored, because an earlier item has the same id. */
  readonly doubles: number;
}

/**
 * Maximum number of items of a list. The largest collections of the community have 10,000 items; lists of all
 * inscriptions of a kind have ten times that number.
 */
export const itemsMax = 100_000;
/**
 * Maximum number of bytes of a list. It is enough for 100,000 items of 2.5 kB. Most items have less than 1 kB, with
 * traits and descriptions.
 */
export const itemsBytesMax = 256 * 1024 * 1024;

/**
 * Reads `inscriptions.json`, piece by piece. An item that is not an object, or has no id, is a refusal. A wrong name or
 * trait is left out. Throws `collection_invalid` if the rest of the list cannot be parsed.
 *
 * @param onItems receives the number of items so far, after each piece
 */
export async function readItems(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onItems: (items: number) => void,
  faults: ImportFaults,
): Promise<CollectionItems> {
  const splitter = new ItemSplitter(faults);
  const traits = new TraitReader(faults);
  const found = new Map<string, CollectionItem>();
  let doubles = 0;
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > itemsBytesMax) throw tooLong();
    for (const { text, where } of splitter.push(piece)) {
      if (splitter.items > itemsMax) throw invalid(itemsFile, `it has more than ${itemsMax} items`);
      const item = readItem(text, where, traits, faults);
      if (item === null) continue;
      const key = formatInscriptionId(item.id.txid, item.id.index);
      if (found.has(key)) doubles++;
      else found.set(key, item);
    }
    onItems(splitter.items);
  }
  splitter.end();
  return { items: [...found.values()], doubles };
}

export const tooLong = () => invalid(itemsFile, `it has more than ${itemsBytesMax} bytes`);

function readItem(
  text: string,
  where: string,
  traits: TraitReader,
  faults: ImportFaults,
): CollectionItem | null {
  const fields = parsed(text);
  if (typeof fields === 'string') {
    faults.refuse(where, fields);
    return null;
  }
  const { id, meta } = fields;
  const inscription = typeof id === 'string' ? parseInscriptionId(id) : null;
  if (inscription === null) {
    faults.refuse(where, 'its id is not the id of an inscription');
    return null;
  }
  const said = readMetaOf(meta, where, faults);
  return {
    id: inscription,
    name: optional(nameOf(said['name']), `${where}, name`, faults),
    traits: traits.traitsOf(said['attributes'], where),
  };
}

function readMetaOf(meta: unknown, where: string, faults: ImportFaults): Readonly<Record<string, unknown>> {
  if (isObject(meta)) return meta;
  if (meta !== undefined && meta !== null) faults.leaveOut(`${where}, meta`, notAnObject);
  return {};
}

const notAnObject = 'it is not an object';

/** The fields of an item. Returns the reason as a text if the item has no fields. */
function parsed(text: string): Readonly<Record<string, unknown>> | string {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'it is not JSON';
  }
  return isObject(value) ? value : notAnObject;
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
