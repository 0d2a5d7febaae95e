import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { CollectionItem } from '#market/collections/collection.store.ts';
import { invalid, nameOf } from '#market/collections/collection-texts.ts';
import { ItemSplitter, itemsFile } from './split-items.ts';

export interface CollectionItems {
  /** Each once, in the order of the file. */
  readonly items: readonly CollectionItem[];
  /** Items whose id an earlier one has: the earlier one counts. */
  readonly doubles: number;
}

/** The largest collections of the community have 10,000 items, and lists of a kind ten times as many. */
export const itemsMax = 100_000;
/** 100,000 items of 2.5 kB: with traits and descriptions most have less than 1 kB. */
export const itemsBytesMax = 256 * 1024 * 1024;

/**
 * Reads `inscriptions.json`, piece by piece.
 *
 * @param onItems is told the number of items so far, after each piece
 */
export async function readItems(
  pieces: AsyncIterable<Uint8Array> | Iterable<Uint8Array>,
  onItems: (items: number) => void,
): Promise<CollectionItems> {
  const splitter = new ItemSplitter();
  const found = new Map<string, CollectionItem>();
  let read = 0;
  let bytes = 0;
  for await (const piece of pieces) {
    bytes += piece.length;
    if (bytes > itemsBytesMax) throw tooLong();
    for (const text of splitter.push(piece)) {
      read++;
      if (read > itemsMax) throw invalid(itemsFile, `it has more than ${itemsMax} items`);
      const item = readItem(text, `${itemsFile}, item ${read}`);
      const key = formatInscriptionId(item.id.txid, item.id.index);
      if (!found.has(key)) found.set(key, item);
    }
    onItems(read);
  }
  splitter.end();
  return { items: [...found.values()], doubles: read - found.size };
}

export const tooLong = () => invalid(itemsFile, `it has more than ${itemsBytesMax} bytes`);

function readItem(text: string, where: string): CollectionItem {
  const { id, meta } = objectOf(parsed(text, where), where);
  const inscription = typeof id === 'string' ? parseInscriptionId(id) : null;
  if (inscription === null) throw invalid(where, 'its id is not that of an inscription');
  if (meta === undefined || meta === null) return { id: inscription, name: null };
  return { id: inscription, name: nameOf(objectOf(meta, `${where}, meta`)['name'], `${where}, name`) };
}

function parsed(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw invalid(where, 'it is not JSON');
  }
}

function objectOf(value: unknown, where: string): Readonly<Record<string, unknown>> {
  if (typeof value === 'object' && value !== null && !Array.isArray(value))
    return value as Readonly<Record<string, unknown>>;
  throw invalid(where, 'it is not an object');
}
