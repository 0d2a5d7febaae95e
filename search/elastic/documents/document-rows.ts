import type pg from 'pg';
import { isCursed } from '#chain/snapshot/cursed-expression.ts';
import { type InscriptionKey, trustedInscriptionKeys } from '#kernel/primitives/inscription-key.ts';
import { hashTerm } from '#search/elastic/text-query.ts';
import { indexTermOfBytes } from '#search/text/index-term.ts';
import { int32s } from '#search/text/int32s.ts';
import type { Group, GroupContent, GroupMetadata } from './group-document.ts';

interface GroupRow {
  content_id: number | null;
  content_type: Buffer | null;
  metadata_id: number | null;
  cursed: boolean | null;
  unnumbered: boolean;
  metaprotocol: Buffer | null;
  properties_json: string | null;
  parents: InscriptionKey[] | null;
  keys: Buffer;
  days: Buffer;
}

/** Groups read from the cursor at once. */
const groupsAtOnce = 2000;
/** Bytes of texts held in memory at once. A single larger text is held alone. */
const textBytesMax = 16 * 1024 * 1024;

/**
 * Groups the inscriptions with keys from `fromKey` to below `nextKey` by what their documents hold, in the order of
 * their content ids. All reads see one moment: `client` is in a transaction. Memory is bounded because Postgres does
 * the grouping, on disk where necessary. Inscriptions that no search can find (no content, metadata or properties)
 * are left out.
 */
export async function* readGroups(
  client: pg.ClientBase,
  fromKey: number,
  nextKey: number,
): AsyncGenerator<Group> {
  await client.query(
    `DECLARE search_groups NO SCROLL CURSOR FOR
     SELECT i.content_id, i.content_type, i.metadata_id, ${isCursed('i')} AS cursed, i.number IS NULL AS unnumbered,
            d.metaprotocol, d.properties_json, p.parents, string_agg(int4send(i.key), '' ORDER BY i.key) AS keys,
            string_agg(int4send((b.time / 86400)::integer), '' ORDER BY i.key) AS days
       FROM chain.inscriptions AS i
       JOIN chain.blocks AS b USING (height)
       LEFT JOIN chain.inscription_details AS d USING (key)
       LEFT JOIN (SELECT child_key AS key, array_agg(parent_key ORDER BY position) AS parents
                    FROM chain.parents WHERE child_key >= ${fromKey} AND child_key < ${nextKey} GROUP BY child_key) AS p
         USING (key)
      WHERE i.key >= ${fromKey} AND i.key < ${nextKey} AND (i.content_id IS NOT NULL OR i.metadata_id IS NOT NULL OR d.properties_json IS NOT NULL)
      GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
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
    const [contents, metadata] = [await readContents(client, part), await readMetadata(client, part)];
    for (const row of part) yield groupOf(row, contents, metadata);
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

const sizeOf = ({ content_id: content, metadata_id: metadata }: GroupRow, sizes: Sizes): number =>
  (content === null ? 0 : (sizes.contents.get(content) ?? 0)) +
  (metadata === null ? 0 : (sizes.metadata.get(metadata) ?? 0));

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

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Searchable texts are valid UTF-8. A byte order mark is part of the text. */
const utf8 = (bytes: Buffer): string => decoder.decode(bytes);

/**
 * Up to and including the first slash; null for a type without one. Lists filter by the same class
 * (src/chain/snapshot/index-expressions.ts).
 */
function classOf(type: Buffer | null): Buffer | null {
  const slash = type?.indexOf('/') ?? -1;
  return type === null || slash < 0 ? null : type.subarray(0, slash + 1);
}

function groupOf(
  row: GroupRow,
  contents: ReadonlyMap<number, GroupContent>,
  metadata: ReadonlyMap<number, GroupMetadata>,
): Group {
  return {
    keys: trustedInscriptionKeys(int32s(row.keys)),
    days: [...int32s(row.days)],
    contentType: indexTermOfBytes(row.content_type),
    contentClass: indexTermOfBytes(classOf(row.content_type)),
    cursed: row.cursed,
    isUnnumbered: row.unnumbered,
    metaprotocol: indexTermOfBytes(row.metaprotocol),
    parents: row.parents ?? [],
    properties: row.properties_json,
    content: row.content_id === null ? null : (contents.get(row.content_id) ?? null),
    metadata: row.metadata_id === null ? null : (metadata.get(row.metadata_id) ?? null),
  };
}
