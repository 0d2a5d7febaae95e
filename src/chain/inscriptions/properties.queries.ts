import type pg from 'pg';
import { itemBytes, itemsPerPage } from '#chain/snapshot/gallery-pages.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import {
  formatInscriptionId,
  type InscriptionId,
  inscriptionIdFromBytes,
} from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { itemsOfText, noAttributes, type TextItem } from '#kernel/text/properties-text.ts';
import { itemsJson } from './gallery-json.ts';

/*
 * The properties of inscriptions (tag 17), in ord's form: {"gallery": […], "attributes": {…}}. They are stored as rows
 * of chain.properties, chain.gallery_pages and chain.gallery_attributes (docs/adr/0032). For blocks that an earlier
 * version indexed, the properties are one text in chain.inscription_details. A catch-up pass converts these texts to
 * rows.
 */

/**
 * The key and the id of an inscription. Both are needed, because after an undo another inscription may get the same
 * key.
 */
export interface Identity extends InscriptionId {
  readonly key: InscriptionKey;
}

/** The position and the size of an inscription's stored properties. */
export interface PropertiesHead extends Identity {
  /** Size of the properties as JSON, in bytes. */
  readonly jsonBytes: number;
  /** True if the properties are stored as rows. False if they are stored as one text. */
  readonly isInRows: boolean;
}

/** Heads of the properties of inscriptions, by key. A key is absent if the inscription has no properties. */
export async function propertiesHeads(
  client: pg.ClientBase,
  keys: readonly InscriptionKey[],
): Promise<Map<InscriptionKey, PropertiesHead>> {
  // the length is stored before the value, so no text is read
  const { rows } = await client.query<PropertiesHead>({
    name: 'properties_heads_by_key',
    text: `SELECT i.key, i.txid, i.index, coalesce(p.json_bytes, octet_length(d.properties_json)) AS "jsonBytes",
       p.key IS NOT NULL AS "isInRows"
     FROM unnest($1::integer[]) AS asked(key)
     JOIN chain.inscriptions i ON i.key = asked.key
     LEFT JOIN chain.properties p ON p.key = asked.key
     LEFT JOIN chain.inscription_details d ON d.key = asked.key
     WHERE p.key IS NOT NULL OR d.properties_json IS NOT NULL`,
    values: [keys],
  });
  return new Map(rows.map((head) => [head.key, head]));
}

/** Ids of one page of a gallery, and whether more pages follow. */
export interface GalleryPage {
  readonly ids: readonly string[];
  readonly more: boolean;
}

/** A page of the gallery of an inscription. It is empty if the inscription has no gallery. `page` counts from 0. */
export async function galleryPage(
  client: pg.ClientBase,
  key: InscriptionKey,
  page: number,
): Promise<GalleryPage> {
  const { rows } = await client.query<{ items: number; ids: Buffer | null }>(
    `SELECT p.items, g.ids FROM chain.properties p
     LEFT JOIN chain.gallery_pages g ON g.key = p.key AND g.page = $2
     WHERE p.key = $1`,
    // limit the page, because a requested page number may be larger than an integer; existing pages never are
    [key, Math.min(page, pageMax)],
  );
  const [row] = rows;
  if (row === undefined) return oldGalleryPage(client, key, page);
  return { ids: row.ids === null ? [] : idsOf(row.ids), more: row.items > (page + 1) * itemsPerPage };
}

const pageMax = 2 ** 31 - 1;

function idsOf(ids: Buffer): string[] {
  return Array.from({ length: ids.length / itemBytes }, (_, item) => idAt(ids, item));
}

function idAt(ids: Buffer, item: number): string {
  const { txid, index } = inscriptionIdFromBytes(ids.subarray(item * itemBytes, (item + 1) * itemBytes));
  return formatInscriptionId(txid, index);
}

/**
 * The JSON of an item of a gallery, in the form of `propertiesJson`. Positions start at 0. `null` if there is no item
 * at this position.
 */
export async function galleryItem(
  client: pg.ClientBase,
  gallery: Identity,
  position: number,
  later: OnConnection,
): Promise<string | AsyncIterable<string | Buffer> | null> {
  if (position > positionMax) return null;
  const { rows } = await client.query<{ id: Buffer | null; isLong: boolean; attributes: Buffer | null }>(
    `SELECT substring(g.ids FROM $3 FOR ${itemBytes}) AS id,
       coalesce(octet_length(a.attributes) > ${attributesAtOnce}, false) AS "isLong",
       CASE WHEN octet_length(a.attributes) <= ${attributesAtOnce} THEN a.attributes END AS attributes
     FROM chain.properties p
     LEFT JOIN chain.gallery_pages g ON g.key = p.key AND g.page = $2
     LEFT JOIN chain.gallery_attributes a ON a.key = p.key AND a.position = $4
     WHERE p.key = $1`,
    [gallery.key, Math.floor(position / itemsPerPage), (position % itemsPerPage) * itemBytes + 1, position],
  );
  const [row] = rows;
  if (row === undefined) return oldGalleryItem(client, gallery.key, position);
  // the text is empty if the page ends before the item
  if (row.id === null || row.id.length === 0) return null;
  const id = idAt(row.id, 0);
  if (row.isLong) return longItemPieces(gallery, id, position, later);
  return itemJson(id, row.attributes?.toString() ?? noAttributes);
}

async function* longItemPieces(
  gallery: Identity,
  id: string,
  position: number,
  on: OnConnection,
): AsyncGenerator<string | Buffer> {
  yield `{"id":"${id}","attributes":`;
  yield* attributePieces(gallery, 'chain.gallery_attributes', position, on);
  yield '}';
}

const positionMax = 2 ** 31 - 1;

const itemJson = (id: string, attributes: string): string => `{"id":"${id}","attributes":${attributes}}`;

/**
 * Number of gallery pages in one piece of a response. They have 500 items. Without titles and traits, their JSON has 58
 * kB and takes the event loop less than a millisecond.
 */
const pagesAtOnce = 5;
/** Maximum number of bytes of titles and traits in one piece. */
const attributesAtOnce = 256 * 1024;
/** Maximum number of bytes of JSON that are read at once. */
const jsonBytesAtOnce = 256 * 1024;

/**
 * Maximum number of bytes that a response in pieces keeps in memory. It keeps the piece that is being sent, and the
 * next piece.
 */
export const piecesHeldBytes = 2 * jsonBytesAtOnce;

/** Runs work on a database connection and returns its result. */
export type OnConnection = <T>(work: (client: pg.ClientBase) => Promise<T>) => Promise<T>;

/**
 * The JSON of the properties of an inscription. It is one text, or pieces of up to 256 KiB if it is long. Each piece is
 * read on a connection of its own after the previous piece was taken, so that a slow client holds no connection. If the
 * inscription is undone meanwhile, the pieces end with `not_found`.
 *
 * @param later runs the read of a later piece on a connection
 */
export async function propertiesJson(
  client: pg.ClientBase,
  head: PropertiesHead,
  later: OnConnection,
): Promise<string | AsyncIterable<string | Buffer>> {
  if (!head.isInRows) return oldJson(client, head);
  return head.jsonBytes <= jsonBytesAtOnce ? wholeJson(client, head) : jsonPieces(head, later);
}

/** JSON of the properties of several inscriptions, by key. Each is one text, of any length. */
export async function propertiesTexts(
  client: pg.ClientBase,
  heads: readonly PropertiesHead[],
): Promise<Map<InscriptionKey, string>> {
  const texts = await shortPropertiesTexts(client, heads);
  for (const head of heads) if (!isShort(head)) texts.set(head.key, await wholeJson(client, head));
  return texts;
}

/** Like `propertiesTexts`, but texts above 16 KiB are absent. */
export async function shortPropertiesTexts(
  client: pg.ClientBase,
  heads: readonly PropertiesHead[],
): Promise<Map<InscriptionKey, string>> {
  const short = heads.filter(isShort);
  return new Map([
    ...(await shortJsons(
      client,
      short.filter(({ isInRows }) => isInRows),
    )),
    ...(await oldJsons(
      client,
      short.filter(({ isInRows }) => !isInRows),
    )),
  ]);
}

/**
 * Maximum number of bytes of a JSON text that is read together with others. For two hundred inscriptions that is a few
 * megabytes.
 */
const shortJsonBytes = 16 * 1024;

const isShort = ({ jsonBytes }: PropertiesHead): boolean => jsonBytes <= shortJsonBytes;

async function shortJsons(
  client: pg.ClientBase,
  heads: readonly PropertiesHead[],
): Promise<Map<InscriptionKey, string>> {
  if (heads.length === 0) return new Map();
  const keys = heads.map(({ key }) => key);
  const { rows } = await client.query<{ key: InscriptionKey; attributes: Buffer; ids: Buffer | null }>(
    `SELECT p.key, p.attributes,
       (SELECT string_agg(g.ids, '' ORDER BY g.page) FROM chain.gallery_pages g WHERE g.key = p.key) AS ids
     FROM chain.properties p WHERE p.key = ANY($1::integer[])`,
    [keys],
  );
  const { rows: attributed } = await client.query<{
    key: InscriptionKey;
    position: number;
    attributes: Buffer;
  }>(`SELECT key, position, attributes FROM chain.gallery_attributes WHERE key = ANY($1::integer[])`, [keys]);
  const known = new Map(
    attributed.map(({ key, position, attributes }) => [`${key} ${position}`, attributes]),
  );
  return new Map(
    rows.map(({ key, attributes, ids }) => {
      const items = itemsJson(ids ?? noBytes, (place) => known.get(`${key} ${place}`));
      return [key, `{"gallery":[${items.toString()}],"attributes":${attributes.toString()}}`];
    }),
  );
}

async function oldJsons(
  client: pg.ClientBase,
  heads: readonly PropertiesHead[],
): Promise<Map<InscriptionKey, string>> {
  if (heads.length === 0) return new Map();
  const { rows } = await client.query<{ key: InscriptionKey; json: string }>(
    `SELECT key, properties_json AS json FROM chain.inscription_details
     WHERE key = ANY($1::integer[]) AND properties_json IS NOT NULL`,
    [heads.map(({ key }) => key)],
  );
  return new Map(rows.map(({ key, json }) => [key, json]));
}

async function wholeJson(client: pg.ClientBase, head: PropertiesHead): Promise<string> {
  if (!head.isInRows) return oldJson(client, head);
  const pieces: Buffer[] = [];
  for await (const piece of jsonPieces(head, (work) => work(client))) pieces.push(Buffer.from(piece));
  return Buffer.concat(pieces).toString();
}

/** The beginning of the JSON. It has at least `chars` characters, or is the complete JSON if that is shorter. */
export async function startOfJson(
  client: pg.ClientBase,
  head: PropertiesHead,
  chars: number,
): Promise<string> {
  if (!head.isInRows) return oldJson(client, head, chars);
  const pieces: Buffer[] = [];
  let bytes = 0;
  for await (const piece of jsonPieces(head, (work) => work(client))) {
    pieces.push(Buffer.from(piece));
    bytes += piece.length;
    // enough bytes, because a character has at most four
    if (bytes >= chars * 4) break;
  }
  return Buffer.concat(pieces).toString();
}

async function* jsonPieces(head: PropertiesHead, on: OnConnection): AsyncGenerator<string | Buffer> {
  yield '{"gallery":[';
  for (let page = 0; ; page += pagesAtOnce) {
    const { ids, hasAttributes } = await on((client) => readIds(client, head, page));
    const first = page * itemsPerPage;
    if (page > 0 && ids.length > 0) yield ',';
    if (hasAttributes) yield* attributedPieces(head, first, ids, on);
    else yield itemsJson(ids);
    if (ids.length < pagesAtOnce * itemsPerPage * itemBytes) break;
  }
  yield '],"attributes":';
  yield* attributePieces(head, 'chain.properties', null, on);
  yield '}';
}

/** JSON of consecutive items from a position on. Some of these items have titles or traits. */
async function* attributedPieces(
  head: Identity,
  first: number,
  ids: Buffer,
  on: OnConnection,
): AsyncGenerator<string | Buffer> {
  const end = first + ids.length / itemBytes;
  for (let from = first; from < end; ) {
    const start = from;
    const known = await on((client) => readAttributes(client, head, start, end));
    if (known.end > start) {
      if (start > first) yield ',';
      const part = ids.subarray((start - first) * itemBytes, (known.end - first) * itemBytes);
      yield itemsJson(part, (place) => known.texts.get(start + place));
    }
    from = known.end;
    if (known.long === null) continue;
    if (known.long > first) yield ',';
    yield* longItemPieces(head, idAt(ids, known.long - first), known.long, on);
    from++;
  }
}

/** SQL: whether the rows of the key still belong to the same inscription. */
const isSame = 'EXISTS (SELECT FROM chain.inscriptions i WHERE i.key = $1 AND i.txid = $2 AND i.index = $3)';
const identity = ({ key, txid, index }: Identity): unknown[] => [key, txid, index];

interface KnownIds {
  /** Ids of 36 bytes each. */
  readonly ids: Buffer;
  /** True if some of these items have titles or traits. */
  readonly hasAttributes: boolean;
}

/** Reads the ids of the items on some pages. */
async function readIds(client: pg.ClientBase, head: Identity, page: number): Promise<KnownIds> {
  const { rows } = await client.query<{ ids: Buffer | null; hasAttributes: boolean }>(
    `SELECT (SELECT string_agg(g.ids, '' ORDER BY g.page) FROM chain.gallery_pages g
         WHERE g.key = p.key AND g.page >= $4 AND g.page < $5) AS ids,
       EXISTS (SELECT FROM chain.gallery_attributes a
         WHERE a.key = p.key AND a.position >= $4 * ${itemsPerPage} AND a.position < $5 * ${itemsPerPage}) AS "hasAttributes"
     FROM chain.properties p WHERE p.key = $1 AND ${isSame}`,
    [...identity(head), page, page + pagesAtOnce],
  );
  const [row] = rows;
  if (row === undefined) throw undone();
  return { ids: row.ids ?? noBytes, hasAttributes: row.hasAttributes };
}

const noBytes = Buffer.alloc(0);

interface KnownAttributes {
  /** The texts of titles and traits, by position. All texts of items before `end` are included. */
  readonly texts: ReadonlyMap<number, Buffer>;
  readonly end: number;
  /** Length of the attributes of the item at `end`, if they are longer than a piece. Otherwise `null`. */
  readonly long: number | null;
}

/** Titles and traits of the items from one position to below another. As many are read as fit in one piece. */
async function readAttributes(
  client: pg.ClientBase,
  head: Identity,
  from: number,
  to: number,
): Promise<KnownAttributes> {
  const { rows } = await client.query<{ position: number; size: number; attributes: Buffer | null }>(
    `SELECT position, size, CASE WHEN bytes <= ${attributesAtOnce} THEN attributes END AS attributes FROM (
       SELECT position, attributes, octet_length(attributes) AS size,
         sum(octet_length(attributes)) OVER (ORDER BY position) AS bytes
       FROM chain.gallery_attributes WHERE key = $1 AND position >= $4 AND position < $5 AND ${isSame}
     ) AS counted ORDER BY position`,
    [...identity(head), from, to],
  );
  const texts = new Map<number, Buffer>();
  for (const { position, size, attributes } of rows) {
    if (attributes === null) {
      return { texts, end: position, long: size > attributesAtOnce ? position : null };
    }
    texts.set(position, attributes);
  }
  return { texts, end: to, long: null };
}

/** Reads a long text in slices. Texts are stored uncompressed, so only the chunks of a slice are read. */
async function* attributePieces(
  head: Identity,
  table: 'chain.properties' | 'chain.gallery_attributes',
  position: number | null,
  on: OnConnection,
): AsyncGenerator<Buffer> {
  const place = position === null ? '' : `AND position = ${position}`;
  for (let from = 1; ; from += attributesAtOnce) {
    const start = from;
    const slice = await on(async (client) => {
      const { rows } = await client.query<{ slice: Buffer }>(
        `SELECT substring(attributes FROM $4 FOR ${attributesAtOnce}) AS slice FROM ${table}
         WHERE key = $1 AND ${isSame} ${place}`,
        [...identity(head), start],
      );
      return rows[0]?.slice;
    });
    if (slice === undefined) throw undone();
    if (slice.length > 0) yield slice;
    if (slice.length < attributesAtOnce) return;
  }
}

function undone(): AppError {
  return new AppError(
    'not_found',
    'this inscription was removed by a reorganisation while it was being read',
  );
}

/** The JSON text that an earlier version stored. */
async function oldJson(client: pg.ClientBase, head: Identity, chars?: number): Promise<string> {
  const { rows } = await client.query<{ json: string | null }>(
    `SELECT ${chars === undefined ? 'properties_json' : `left(properties_json, ${chars})`} AS json
     FROM chain.inscription_details WHERE key = $1 AND ${isSame}`,
    identity(head),
  );
  const json = rows[0]?.json;
  if (json == null) throw undone();
  return json;
}

async function oldGalleryPage(
  client: pg.ClientBase,
  key: InscriptionKey,
  page: number,
): Promise<GalleryPage> {
  const first = page * itemsPerPage;
  const items = await oldItems(client, key, first, itemsPerPage + 1);
  return { ids: items.slice(0, itemsPerPage).map(({ id }) => id), more: items.length > itemsPerPage };
}

async function oldGalleryItem(
  client: pg.ClientBase,
  key: InscriptionKey,
  position: number,
): Promise<string | null> {
  const [item] = await oldItems(client, key, position, 1);
  return item === undefined ? null : itemJson(item.id, item.attributes ?? noAttributes);
}

async function oldItems(
  client: pg.ClientBase,
  key: InscriptionKey,
  first: number,
  count: number,
): Promise<TextItem[]> {
  const { rows } = await client.query<{ json: string }>(
    `SELECT properties_json AS json FROM chain.inscription_details WHERE key = $1 AND properties_json IS NOT NULL`,
    [key],
  );
  const items: TextItem[] = [];
  let place = 0;
  for (const item of itemsOfText(rows[0]?.json ?? '')) {
    if (place++ >= first) items.push(item);
    if (items.length === count) break;
  }
  return items;
}
