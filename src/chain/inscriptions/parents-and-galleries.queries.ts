import type { ClientBase } from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { type InscriptionId, inscriptionIdBytes } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';

/** The index that finds the galleries of an inscription. Without it each query would read all galleries. */
export const galleryIndex = 'gallery_pages_ids';

/** Maximum number of bytes of attributes that are read to find a name. Honest titles have a few tens of characters. */
const attributesBytesMax = 16_384;

/**
 * Maximum number of gallery pages that are read for one inscription. A gallery is counted once, even if it names the
 * inscription on every page.
 */
const galleryPagesMax = 1_000;

/** An inscription with children, a gallery, or both. */
export interface ParentOrGallery {
  readonly key: InscriptionKey;
  readonly id: InscriptionId;
  readonly number: number | null;
  readonly children: number;
  /** Number of items of the gallery. The gallery may name the same inscription twice. */
  readonly galleryItems: number;
  /** JSON of the inscription's own title and traits. `null` if there are none, or if they are too long. */
  readonly attributes: Buffer | null;
}

/** Keeps the inscriptions that have children or a gallery, in the order of the ids. */
export async function parentsAndGalleries(
  client: ClientBase,
  ids: readonly InscriptionId[],
): Promise<ParentOrGallery[]> {
  if (ids.length === 0) return [];
  const { rows } = await client.query<Omit<ParentOrGallery, 'id'> & { txid: Txid; index: number }>(
    `SELECT i.key, i.txid, i.index, i.number, coalesce(c.children, 0) AS children, coalesce(p.items, 0) AS "galleryItems",
       CASE WHEN length(p.attributes) <= ${attributesBytesMax} THEN p.attributes END AS attributes
     FROM unnest($1::bytea[], $2::integer[]) WITH ORDINALITY AS given(txid, index, nth)
     JOIN chain.inscriptions i ON i.txid = given.txid AND i.index = given.index
     LEFT JOIN chain.parent_children c ON c.parent_key = i.key
     LEFT JOIN chain.properties p ON p.key = i.key
     WHERE c.children > 0 OR p.items > 0
     ORDER BY given.nth`,
    [ids.map(({ txid }) => Buffer.from(txid)), ids.map(({ index }) => index)],
  );
  return rows.map(({ txid, index, ...row }) => ({ ...row, id: { txid: trustedTxid(txid), index } }));
}

/** A parent or gallery of an inscription. */
export interface KeyedInscription {
  readonly key: InscriptionKey;
  readonly id: InscriptionId;
}

interface KeyedRow {
  readonly key: InscriptionKey;
  readonly txid: Txid;
  readonly index: number;
}

const keyed = ({ key, txid, index }: KeyedRow): KeyedInscription => ({
  key,
  id: { txid: trustedTxid(txid), index },
});

/** The first parents of an inscription, in the order of its envelope. */
export async function firstParents(
  client: ClientBase,
  { txid, index }: InscriptionId,
  limit: number,
): Promise<KeyedInscription[]> {
  const { rows } = await client.query<KeyedRow>(
    `SELECT i.key, i.txid, i.index FROM chain.inscriptions c
     JOIN chain.parents r ON r.child_key = c.key JOIN chain.inscriptions i ON i.key = r.parent_key
     WHERE c.txid = $1 AND c.index = $2 ORDER BY r.position LIMIT $3`,
    [Buffer.from(txid), index, limit],
  );
  return rows.map(keyed);
}

/**
 * Galleries that name an inscription, in the order of their reveals. Use it with `indexesOnly`, and only if
 * `galleryIndex` exists.
 */
export async function galleriesWith(
  client: ClientBase,
  id: InscriptionId,
  limit: number,
): Promise<KeyedInscription[]> {
  const { rows } = await client.query<KeyedRow>(
    `SELECT i.key, i.txid, i.index FROM (
       SELECT DISTINCT key FROM (
         -- without an order: one by key would be a walk along all galleries
         SELECT key FROM chain.gallery_pages
         WHERE chain.id_hashes(ids) @> chain.id_hashes($1) AND position($1 IN ids) > 0 LIMIT ${galleryPagesMax}
       ) AS pages ORDER BY key LIMIT $2
     ) AS galleries JOIN chain.inscriptions i USING (key) ORDER BY i.key`,
    [Buffer.from(inscriptionIdBytes(id)), limit],
  );
  return rows.map(keyed);
}

/** SQL: keys of the children of parent $1, each once. */
export const childrenOfParent = 'SELECT child_key AS key FROM chain.parents WHERE parent_key = $1';

/**
 * SQL: keys of the items of gallery $1. A key is repeated if the gallery names the inscription twice. Ids have 36
 * bytes: the txid, then the index in little endian.
 */
export const itemsOfGallery = `SELECT i.key FROM chain.gallery_pages g
  CROSS JOIN LATERAL generate_series(1, length(g.ids), 36) AS at
  JOIN chain.inscriptions i ON i.txid = substring(g.ids FROM at FOR 32) AND i.index =
    get_byte(g.ids, at + 31) + (get_byte(g.ids, at + 32) << 8) + (get_byte(g.ids, at + 33) << 16)
    + (get_byte(g.ids, at + 34)::bigint << 24)
  WHERE g.key = $1`;

/**
 * SQL: whether parent $1 has a given child. `txid` and `index` are SQL expressions of the child's id. Use it for a few
 * rows among many, because each row is looked up by an index. OFFSET 0 is needed. Without it the planner would turn
 * this into a join and read all children first, which takes half a second for 100,000 children.
 */
export const isChild = (txid: string, index: string): string =>
  `EXISTS (SELECT FROM chain.inscriptions c JOIN chain.parents ON child_key = c.key
      WHERE parent_key = $1 AND c.txid = ${txid} AND c.index = ${index} OFFSET 0)`;

/** SQL: whether gallery $1 has a given item. The parameters are those of `isChild`. */
export function isGalleryItem(txid: string, index: string): string {
  // begin with the index on ids, which finds few pages; beginning with the key would read all pages of the gallery
  const id = `${txid} || substring(int4send(${index}) FROM 4 FOR 1) || substring(int4send(${index}) FROM 3 FOR 1)
          || substring(int4send(${index}) FROM 2 FOR 1) || substring(int4send(${index}) FROM 1 FOR 1)`;
  return `EXISTS (SELECT FROM (
        SELECT key FROM chain.gallery_pages
        WHERE chain.id_hashes(ids) @> chain.id_hashes(${id}) AND position(${id} IN ids) > 0 OFFSET 0) AS pages
      WHERE pages.key = $1 OFFSET 0)`;
}
