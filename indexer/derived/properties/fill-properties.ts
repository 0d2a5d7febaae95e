import type pg from 'pg';
import { itemBytes, itemsPerPage } from '#chain/snapshot/gallery-pages.ts';
import { attributesOfText, itemsOfText } from '#kernel/text/properties-text.ts';
import { textsOfAttributes } from '#kernel/text/property-texts.ts';
import type { IndexedBlocks } from '../derived-table.ts';

/** Maximum number of inscriptions read at once. Honest ones have half a megabyte together. */
const readAtOnce = 1000;
/** Maximum bytes of properties that are read together. A larger text, of 24 MB at most, is read alone. */
const readBytesAtOnce = 4_000_000;
/**
 * Maximum number of items written at once. They take some milliseconds of the event loop. The number is a multiple of a
 * page, so no page is cut.
 */
const itemsAtOnce = 20 * itemsPerPage;

interface StoredText {
  readonly key: number;
  readonly json: string;
}

/**
 * Makes the rows of indexed inscriptions from the JSON in their details, and removes the JSON, so that the properties
 * of an inscription are stored only once.
 */
export async function fillProperties(tx: pg.ClientBase, { firstKey, nextKey }: IndexedBlocks): Promise<void> {
  for (let from = firstKey; from < nextKey; ) {
    const read = await readTexts(tx, from, nextKey);
    if (read.length === 0) break;
    await insertProperties(tx, read);
    await insertItems(tx, read);
    from = (read.at(-1)?.key ?? from) + 1;
  }
  await tx.query(
    `UPDATE chain.inscription_details SET properties_json = NULL
     WHERE key >= $1 AND key < $2 AND properties_json IS NOT NULL`,
    [firstKey, nextKey],
  );
}

async function readTexts(tx: pg.ClientBase, from: number, nextKey: number): Promise<StoredText[]> {
  // the length of a value is stored before the value, so this query reads no values
  const { rows } = await tx.query<StoredText>(
    `SELECT d.key, d.properties_json AS json
     FROM (
       SELECT key, row_number() OVER (ORDER BY key) AS nth, sum(size_bytes) OVER (ORDER BY key) AS bytes
       FROM (
         SELECT key, octet_length(properties_json) AS size_bytes FROM chain.inscription_details
         WHERE key >= $1 AND key < $2 AND properties_json IS NOT NULL ORDER BY key LIMIT ${readAtOnce}
       ) AS listed
     ) AS counted
     JOIN chain.inscription_details d USING (key)
     WHERE counted.nth = 1 OR counted.bytes <= ${readBytesAtOnce} ORDER BY d.key`,
    [from, nextKey],
  );
  return rows;
}

async function insertProperties(tx: pg.ClientBase, read: readonly StoredText[]): Promise<void> {
  const made = read.map(({ key, json }) => {
    const attributes = attributesOfText(json);
    return { key, json, attributes, ...textsOfAttributes(attributes) };
  });
  await tx.query(
    `INSERT INTO chain.properties (key, items, json_bytes, title, traits, attributes)
     SELECT * FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::bytea[], $5::bytea[], $6::bytea[])`,
    [
      made.map(({ key }) => key),
      made.map(({ json }) => itemsOfText(json).reduce((count) => count + 1, 0)),
      made.map(({ json }) => Buffer.byteLength(json)),
      made.map(({ title }) => (title === null ? null : Buffer.from(title))),
      made.map(({ traits }) => (traits === null ? null : Buffer.from(traits))),
      made.map(({ attributes }) => Buffer.from(attributes)),
    ],
  );
}

interface Item {
  readonly key: number;
  readonly position: number;
  readonly id: Buffer;
  readonly attributes: string | null;
}

async function insertItems(tx: pg.ClientBase, read: readonly StoredText[]): Promise<void> {
  let items: Item[] = [];
  for (const { key, json } of read) {
    let position = 0;
    for (const { id, attributes } of itemsOfText(json)) {
      // insert whole pages at once; another inscription begins a new page
      if (items.length >= itemsAtOnce && position % itemsPerPage === 0) {
        await insertPart(tx, items);
        items = [];
      }
      items.push({ key, position, id: bytesOfId(id), attributes });
      position++;
    }
  }
  await insertPart(tx, items);
}

function bytesOfId(id: string): Buffer {
  const bytes = Buffer.alloc(itemBytes);
  bytes.set(Buffer.from(id.slice(0, 64), 'hex').reverse());
  bytes.writeUInt32LE(Number(id.slice(65)), 32);
  return bytes;
}

/** Writes items of whole pages. */
async function insertPart(tx: pg.ClientBase, items: readonly Item[]): Promise<void> {
  if (items.length === 0) return;
  const pages: { readonly key: number; readonly page: number; readonly ids: Buffer[] }[] = [];
  for (const { key, position, id } of items) {
    if (position % itemsPerPage === 0) pages.push({ key, page: position / itemsPerPage, ids: [] });
    pages.at(-1)?.ids.push(id);
  }
  await tx.query(
    `INSERT INTO chain.gallery_pages (key, page, ids)
     SELECT * FROM unnest($1::integer[], $2::integer[], $3::bytea[])`,
    [pages.map(({ key }) => key), pages.map(({ page }) => page), pages.map(({ ids }) => Buffer.concat(ids))],
  );
  const attributed = items.filter(({ attributes }) => attributes !== null);
  if (attributed.length === 0) return;
  await tx.query(
    `INSERT INTO chain.gallery_attributes (key, position, attributes)
     SELECT * FROM unnest($1::integer[], $2::integer[], $3::bytea[])`,
    [
      attributed.map(({ key }) => key),
      attributed.map(({ position }) => position),
      attributed.map(({ attributes }) => Buffer.from(attributes ?? '')),
    ],
  );
}
