import { isCursed } from '#chain/snapshot/cursed-expression.ts';
import { itemBytes } from '#chain/snapshot/gallery-pages.ts';
import { isRareClass, isRareType, typeClass } from '#chain/snapshot/index-expressions.ts';
import { keyOfInscription, keysOfHeights } from '#chain/snapshot/inscription-keys.ts';
import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import {
  formatInscriptionId,
  type InscriptionId,
  inscriptionIdBytes,
} from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { attributesOfText } from '#kernel/text/properties-text.ts';
import { textsOfAttributes } from '#kernel/text/property-texts.ts';
import { typeNameBytes } from '#search/segments/column-queries.ts';
import { Occurrences } from '#search/text/occurrences.ts';
import { asksOnlyText, propertyConditions } from '#search/text/searched-properties.ts';
import type { KeyConditions } from './key-conditions.ts';
import { cachedKeySet, type KeySet, keysOfStatement, type ReadKeys } from './key-sets.ts';
import { idsWith } from './read-texts.ts';
import type { Matching } from './search-context.ts';

/**
 * The part of a filter that can be decided from the inscriptions' own rows. `nextKey` is the key after the last
 * inscription. Null: nothing matches.
 */
export async function filterConditions(
  matching: Matching,
  filter: SearchFilter,
  nextKey: number,
): Promise<Omit<KeyConditions, 'texts'> | null> {
  const { contentType, cursed, parent } = filter;
  if (!isWellFormed(filter)) return null;
  const parentKey = parent === undefined ? undefined : await keyOfInscription(matching.client, parent);
  if (parentKey === null) return null;
  const range = await readRange(matching, filter, nextKey);
  const sets = keySets(matching, filter, parentKey);
  const isLong = contentType !== undefined && Buffer.byteLength(contentType) >= typeNameBytes;
  if (isLong) sets.push(longTypeSet(matching, contentType));
  return {
    range,
    sets,
    ...(cursed === undefined
      ? {}
      : { cursed: { isCursed: cursed, unnumbered: unnumberedSet(matching, cursed) } }),
    ...(contentType === undefined || isLong ? {} : { isType: typeTest(contentType) }),
  };
}

/** Whether all texts are valid. Half of a surrogate pair is not UTF-8, so it equals nothing on chain. */
function isWellFormed(filter: SearchFilter): boolean {
  const { contentType, metaprotocol } = filter;
  return (
    contentType?.isWellFormed() !== false && metaprotocol?.isWellFormed() !== false && asksOnlyText(filter)
  );
}

function keySets(matching: Matching, filter: SearchFilter, parentKey: InscriptionKey | undefined): KeySet[] {
  const { metaprotocol, title, traits = [], gallery } = filter;
  const sets: KeySet[] = [];
  if (metaprotocol !== undefined) sets.push(metaprotocolSet(matching, metaprotocol));
  if (parentKey !== undefined) sets.push(parentSet(matching, parentKey));
  if (gallery !== undefined) sets.push(gallerySet(matching, gallery));
  if (title !== undefined) sets.push(attributesSet(matching, { title }));
  if (traits.length > 0) sets.push(attributesSet(matching, { traits }));
  return sets;
}

async function readRange(
  { client }: Matching,
  { from, to }: SearchFilter,
  nextKey: number,
): Promise<KeyConditions['range']> {
  if (from === undefined && to === undefined) return { first: 0, next: nextKey };
  const { first, end } = await keysOfHeights(client, { from, to });
  return { first: first ?? nextKey, next: end ?? 0 };
}

const isClass = (contentType: string): boolean => contentType.endsWith('/*');

/** A test of content types. Stored names are cut, but not below the maximum length of a filter. */
function typeTest(contentType: string): (name: Buffer) => boolean {
  if (!isClass(contentType)) {
    const wanted = Buffer.from(contentType);
    return (name) => wanted.equals(name);
  }
  const wanted = Buffer.from(contentType.slice(0, -1));
  return (name) => wanted.equals(name.subarray(0, name.indexOf('/') + 1));
}

function longTypeSet(matching: Matching, contentType: string): KeySet {
  const [column, isRare, value] = isClass(contentType)
    ? [typeClass, isRareClass, contentType.slice(0, -1)]
    : ['content_type', isRareType, contentType];
  const statement = `SELECT key FROM chain.inscriptions
    WHERE key >= $1 AND key < $2 AND ${isRare} AND chain.hash32(${column}) = chain.hash32($3::bytea) AND ${column} = $3`;
  return cachedKeySet(
    matching,
    `type ${contentType}`,
    keysOfStatement(matching, statement, [Buffer.from(value)]),
  );
}

/** Inscriptions without a number whose curse is known and equals `cursed`. */
function unnumberedSet(matching: Matching, cursed: boolean): KeySet {
  const statement = `SELECT i.key FROM chain.inscriptions AS i
    WHERE i.key >= $1 AND i.key < $2 AND i.number IS NULL AND (${isCursed('i')}) = $3::boolean`;
  return cachedKeySet(
    matching,
    `unnumbered, cursed ${cursed}`,
    keysOfStatement(matching, statement, [cursed]),
  );
}

function metaprotocolSet(matching: Matching, metaprotocol: string): KeySet {
  const statement = `SELECT key FROM chain.inscription_details
    WHERE key >= $1 AND key < $2 AND metaprotocol IS NOT NULL
      AND chain.hash32(metaprotocol) = chain.hash32($3::bytea) AND metaprotocol = $3`;
  const read = keysOfStatement(matching, statement, [Buffer.from(metaprotocol)]);
  return cachedKeySet(matching, `metaprotocol ${metaprotocol}`, read);
}

/**
 * Children of a parent. If the parent is undone, its children are sealed again, so the parent's key may be part of the
 * cached name.
 */
function parentSet(matching: Matching, parentKey: InscriptionKey): KeySet {
  const statement =
    'SELECT child_key AS key FROM chain.parents WHERE child_key >= $1 AND child_key < $2 AND parent_key = $3';
  return cachedKeySet(matching, `parent ${parentKey}`, keysOfStatement(matching, statement, [parentKey]));
}

/*
 * Properties are rows of chain.properties and chain.gallery_pages. Properties that an earlier version indexed are a
 * text in the details until a catch-up pass has made rows of them, so each set reads both.
 */

function gallerySet(matching: Matching, { txid, index }: InscriptionId): KeySet {
  const id = formatInscriptionId(txid, index);
  const statement = `
    SELECT g.key FROM chain.gallery_pages AS g
    WHERE g.key >= $1 AND g.key < $2 AND chain.id_hashes(g.ids) @> ARRAY[chain.hash32($3::bytea)]
      AND EXISTS (SELECT FROM generate_series(1, length(g.ids), ${itemBytes}) AS at
                   WHERE substring(g.ids FROM at FOR ${itemBytes}) = $3)
    UNION
    SELECT key FROM chain.inscription_details
    WHERE key >= $1 AND key < $2 AND properties_json IS NOT NULL AND position($4 IN properties_json) > 0`;
  const values = [Buffer.from(inscriptionIdBytes({ txid, index })), oldGalleryItem(id)];
  return cachedKeySet(matching, `gallery ${id}`, keysOfStatement(matching, statement, values));
}

/**
 * The JSON of a gallery item with this id. Nothing else contains this text, because the value of a trait is not an
 * object.
 */
const oldGalleryItem = (id: string): string => `{"id":"${id}","attributes":{`;

type Wanted = Pick<SearchFilter, 'title' | 'traits'>;

function attributesSet(matching: Matching, wanted: Wanted): KeySet {
  const values: Buffer[] = [];
  const conditions = propertyConditions(wanted, (value) => `$${values.push(value) + 2}`);
  const readKeys = keysOfStatement(
    matching,
    `SELECT key FROM chain.properties WHERE key >= $1 AND key < $2
       ${conditions.map(({ column, value }) => `AND position(${value}::bytea IN ${column}) > 0`).join(' ')}`,
    values,
  );
  const readOld = oldAttributes(matching, wanted);
  return cachedKeySet(matching, `attributes ${JSON.stringify(wanted)}`, async (first, next, add) => {
    await readKeys(first, next, add);
    await readOld(first, next, add);
  });
}

function oldAttributes(matching: Matching, wanted: Wanted): ReadKeys {
  const readKeys = keysOfStatement(
    matching,
    `SELECT key FROM chain.inscription_details WHERE key >= $1 AND key < $2 AND properties_json IS NOT NULL`,
    [],
  );
  const sought: { readonly column: 'title' | 'traits'; readonly text: Occurrences }[] = [];
  propertyConditions(wanted, (value) => value.toString()).forEach(({ column, value }) => {
    sought.push({ column, text: new Occurrences(value) });
  });
  const has = (attributes: Uint8Array): boolean => {
    const own = textsOfAttributes(attributesOfText(Buffer.from(attributes).toString()));
    return sought.every(({ column, text }) => text.first(own[column] ?? '') >= 0);
  };
  // search the text without the gallery
  const text = `convert_to(substring(properties_json FROM position('],"attributes":' IN properties_json)), 'UTF8')`;
  const table = { table: 'chain.inscription_details', id: 'key', text };
  return async (first, next, add) => {
    const lists: Int32Array[] = [];
    await readKeys(first, next, (keys) => {
      lists.push(Int32Array.from(keys));
    });
    for (const keys of lists) add(await idsWith(matching.client, table, keys, has, matching.budget));
  };
}
