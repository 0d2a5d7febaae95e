import type pg from 'pg';
import { isCursed } from '#chain/snapshot/cursed-expression.ts';
import { itemBytes } from '#chain/snapshot/gallery-pages.ts';
import { inscriptionIdBytes, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { type InscriptionKey, trustedInscriptionKeys } from '#kernel/primitives/inscription-key.ts';
import { attributesOfText, itemsOfText } from '#kernel/text/properties-text.ts';
import { textsOfAttributes } from '#kernel/text/property-texts.ts';
import { hashTerm } from '#search/elastic/queries/text-query.ts';
import { indexTermOfBytes } from '#search/text/index-term.ts';
import { int32s } from '#search/text/int32s.ts';
import type { Group, GroupContent, GroupMetadata, GroupProperties } from './group-document.ts';

interface GroupRow {
  content_id: number | null;
  content_type: Buffer | null;
  metadata_id: number | null;
  cursed: boolean | null;
  unnumbered: boolean;
  metaprotocol: Buffer | null;
  title: Buffer | null;
  traits: Buffer | null;
  /**
   * `gallery_key`: the only key of a row with a gallery; `items`: its number of items. Both are null without a gallery.
   */
  gallery_key: InscriptionKey | null;
  items: number | null;
  /**
   * `text_key`: the only key of a row whose properties are still a text; `text_bytes`: their length. Both are null if
   * the properties are rows.
   */
  text_key: InscriptionKey | null;
  text_bytes: number | null;
  parents: InscriptionKey[] | null;
  keys: Buffer;
  days: Buffer;
}

/** Maximum number of groups read from the cursor at once. */
const groupsAtOnce = 2000;
/** Maximum bytes of texts in memory at once. A single larger text is read alone. */
const textBytesMax = 16 * 1024 * 1024;

/**
 * Groups the inscriptions with keys from `fromKey` to below `nextKey` by the contents of their documents, in the order
 * of their content ids. All reads see one moment, because `client` is in a transaction. Memory is bounded because
 * Postgres does the grouping, on disk if necessary. Inscriptions that no search can find (no content, metadata or
 * properties) are omitted. Copies with a gallery are groups of their own, because galleries are long and hardly ever
 * copied.
 */
export async function* readGroups(
  client: pg.ClientBase,
  fromKey: number,
  nextKey: number,
): AsyncGenerator<Group> {
  await client.query(
    `DECLARE search_groups NO SCROLL CURSOR FOR
     SELECT i.content_id, i.content_type, i.metadata_id, ${isCursed('i')} AS cursed, i.number IS NULL AS unnumbered,
            d.metaprotocol, p.parents, props.title, props.traits,
            CASE WHEN props.items > 0 THEN i.key END AS gallery_key, CASE WHEN props.items > 0 THEN props.items END AS items,
            CASE WHEN d.properties_json IS NOT NULL THEN i.key END AS text_key,
            octet_length(d.properties_json) AS text_bytes, string_agg(int4send(i.key), '' ORDER BY i.key) AS keys,
            string_agg(int4send((b.time / 86400)::integer), '' ORDER BY i.key) AS days
       FROM chain.inscriptions AS i
       JOIN chain.blocks AS b USING (height)
       LEFT JOIN chain.inscription_details AS d USING (key)
       LEFT JOIN chain.properties AS props USING (key)
       LEFT JOIN (SELECT child_key AS key, array_agg(parent_key ORDER BY position) AS parents
                    FROM chain.parents WHERE child_key >= ${fromKey} AND child_key < ${nextKey} GROUP BY child_key) AS p
         USING (key)
      WHERE i.key >= ${fromKey} AND i.key < ${nextKey} AND (i.content_id IS NOT NULL OR i.metadata_id IS NOT NULL 
             OR d.properties_json IS NOT NULL OR props.key IS NOT NULL)
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13
      ORDER BY 1`,
  );
  try {
    for (;;) {
      const { rows } = await client.query<GroupRow>(`FETCH ${groupsAtOnce} FROM search_groups`);
      if (rows.length === 0) return;
      yield* withTexts(client, rows);
    }
  } finally {
    // a failed transaction closes the cursor by itself
    await client.query('CLOSE search_groups').catch(() => undefined);
  }
}

async function* withTexts(client: pg.ClientBase, rows: readonly GroupRow[]): AsyncGenerator<Group> {
  const sizes = await readSizes(client, rows);
  for (let from = 0; from < rows.length; ) {
    let to = from;
    for (let bytes = 0; to < rows.length; to++) {
      bytes += sizeOf(rows[to] as GroupRow, sizes);
      if (to > from && bytes > textBytesMax) break;
    }
    const part = rows.slice(from, to);
    const texts = {
      contents: await readContents(client, part),
      metadata: await readMetadata(client, part),
      ids: await readGalleries(client, part),
      old: await readOldProperties(client, part),
    };
    for (const row of part) yield groupOf(row, texts);
    from = to;
  }
}

interface Sizes {
  readonly contents: ReadonlyMap<number, number>;
  readonly metadata: ReadonlyMap<number, number>;
}

const idsOf = (rows: readonly GroupRow[], id: 'content_id' | 'metadata_id'): number[] => [
  ...new Set(rows.map((row) => row[id]).filter((one) => one !== null)),
];

const sizeOf = (row: GroupRow, sizes: Sizes): number =>
  (row.content_id === null ? 0 : (sizes.contents.get(row.content_id) ?? 0)) +
  (row.metadata_id === null ? 0 : (sizes.metadata.get(row.metadata_id) ?? 0)) +
  (row.items ?? 0) * itemBytes +
  (row.text_bytes ?? 0);

async function readSizes(client: pg.ClientBase, rows: readonly GroupRow[]): Promise<Sizes> {
  const contents = await client.query<{ id: number; size: number }>(
    `SELECT content_id AS id, octet_length(coalesce(folded, body)) AS size
       FROM chain.contents WHERE content_id = ANY($1) AND text <> 0`,
    [idsOf(rows, 'content_id')],
  );
  const metadata = await client.query<{ id: number; size: number }>(
    `SELECT metadata_id AS id, octet_length(json) + coalesce(octet_length(folded), 0) AS size
       FROM chain.metadata_texts WHERE metadata_id = ANY($1)`,
    [idsOf(rows, 'metadata_id')],
  );
  const byId = (found: readonly { id: number; size: number }[]): Map<number, number> =>
    new Map(found.map(({ id, size }) => [id, size]));
  return { contents: byId(contents.rows), metadata: byId(metadata.rows) };
}

interface ContentRow {
  content_id: number;
  sha256: Buffer;
  decoded_sha256: Buffer | null;
  size_bytes: number;
  folded: Buffer | null;
}

async function readContents(
  client: pg.ClientBase,
  rows: readonly GroupRow[],
): Promise<Map<number, GroupContent>> {
  const { rows: found } = await client.query<ContentRow>(
    `SELECT content_id, sha256, decoded_sha256, octet_length(body) AS size_bytes,
            CASE text WHEN 1 THEN body WHEN 2 THEN folded END AS folded
       FROM chain.contents WHERE content_id = ANY($1)`,
    [idsOf(rows, 'content_id')],
  );
  return new Map(
    found.map((row) => [
      row.content_id,
      {
        sha256: hashTerm(row.sha256),
        decodedSha256: row.decoded_sha256 === null ? null : hashTerm(row.decoded_sha256),
        sizeBytes: row.size_bytes,
        folded: row.folded === null ? null : utf8(row.folded),
      },
    ]),
  );
}

async function readMetadata(
  client: pg.ClientBase,
  rows: readonly GroupRow[],
): Promise<Map<number, GroupMetadata>> {
  const { rows: found } = await client.query<{ metadata_id: number; json: Buffer; folded: Buffer | null }>(
    'SELECT metadata_id, json, folded FROM chain.metadata_texts WHERE metadata_id = ANY($1)',
    [idsOf(rows, 'metadata_id')],
  );
  return new Map(
    found.map((row) => [row.metadata_id, { json: utf8(row.json), folded: utf8(row.folded ?? row.json) }]),
  );
}

/** Ids of the items of galleries, by key. */
async function readGalleries(
  client: pg.ClientBase,
  rows: readonly GroupRow[],
): Promise<Map<InscriptionKey, Buffer>> {
  const { rows: found } = await client.query<{ key: InscriptionKey; ids: Buffer }>(
    `SELECT key, string_agg(ids, '' ORDER BY page) AS ids FROM chain.gallery_pages WHERE key = ANY($1) GROUP BY key`,
    [rows.flatMap(({ gallery_key: key }) => key ?? [])],
  );
  return new Map(found.map(({ key, ids }) => [key, ids]));
}

/** Keyed by key: properties that are still a text, until a catch-up pass has made rows of them. */
async function readOldProperties(
  client: pg.ClientBase,
  rows: readonly GroupRow[],
): Promise<Map<InscriptionKey, GroupProperties>> {
  const { rows: found } = await client.query<{ key: InscriptionKey; json: string }>(
    `SELECT key, properties_json AS json FROM chain.inscription_details
      WHERE key = ANY($1) AND properties_json IS NOT NULL`,
    [rows.flatMap(({ text_key: key }) => key ?? [])],
  );
  return new Map(
    found.map(({ key, json }) => {
      const ids = [...itemsOfText(json)].flatMap(({ id }) => parseInscriptionId(id) ?? []);
      return [
        key,
        {
          ...textsOfAttributes(attributesOfText(json)),
          ids: Buffer.concat(ids.map(inscriptionIdBytes)),
        },
      ];
    }),
  );
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Searchable texts are valid UTF-8. A byte order mark is part of the text. */
const utf8 = (bytes: Buffer): string => decoder.decode(bytes);

/**
 * The type up to and including the first slash. Null: the type has no slash. Lists filter by the same class
 * (src/chain/snapshot/index-expressions.ts).
 */
function classOf(type: Buffer | null): Buffer | null {
  const slash = type?.indexOf('/') ?? -1;
  return type === null || slash < 0 ? null : type.subarray(0, slash + 1);
}

interface Texts {
  readonly contents: ReadonlyMap<number, GroupContent>;
  readonly metadata: ReadonlyMap<number, GroupMetadata>;
  readonly ids: ReadonlyMap<InscriptionKey, Buffer>;
  readonly old: ReadonlyMap<InscriptionKey, GroupProperties>;
}

function propertiesOf(row: GroupRow, { ids, old }: Texts): GroupProperties | null {
  if (row.text_key !== null) return old.get(row.text_key) ?? null;
  return {
    title: row.title === null ? null : utf8(row.title),
    traits: row.traits === null ? null : utf8(row.traits),
    ids: (row.gallery_key === null ? undefined : ids.get(row.gallery_key)) ?? Buffer.alloc(0),
  };
}

function groupOf(row: GroupRow, texts: Texts): Group {
  const { contents, metadata } = texts;
  return {
    keys: trustedInscriptionKeys(int32s(row.keys)),
    days: [...int32s(row.days)],
    contentType: indexTermOfBytes(row.content_type),
    contentClass: indexTermOfBytes(classOf(row.content_type)),
    cursed: row.cursed,
    isUnnumbered: row.unnumbered,
    metaprotocol: indexTermOfBytes(row.metaprotocol),
    parents: row.parents ?? [],
    properties: propertiesOf(row, texts),
    content: row.content_id === null ? null : (contents.get(row.content_id) ?? null),
    metadata: row.metadata_id === null ? null : (metadata.get(row.metadata_id) ?? null),
  };
}
