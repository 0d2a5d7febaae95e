import type { ClientBase, Pool } from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import {
  formatInscriptionId,
  type InscriptionId,
  inscriptionIdBytes,
} from '#kernel/primitives/inscription-id.ts';

interface SlugRow {
  readonly slug: string | null;
  readonly txid: Txid | null;
  readonly index: number | null;
}

/**
 * The slug of the collection with which each inscription is shown. This is the first import by slug, else the
 * inscription's first parent, else the first gallery that has the inscription. A slug is null if the inscription has no
 * collection. Takes one statement, with some index look-ups for each inscription.
 */
export async function slugsOf(
  client: ClientBase | Pool,
  ids: readonly InscriptionId[],
): Promise<(string | null)[]> {
  if (ids.length === 0) return [];
  const { rows } = await client.query<SlugRow>(
    `SELECT m.slug, coalesce(p.txid, l.txid) AS txid, coalesce(p.index, l.index) AS index
     FROM unnest($1::bytea[], $2::integer[], $3::bytea[]) WITH ORDINALITY AS given(txid, index, id, nth)
     LEFT JOIN LATERAL (
       SELECT slug FROM service.market_items WHERE txid = given.txid AND index = given.index ORDER BY slug LIMIT 1
     ) m ON true
     LEFT JOIN LATERAL (
       SELECT i.txid, i.index FROM chain.inscriptions c
       JOIN chain.parents r ON r.child_key = c.key JOIN chain.inscriptions i ON i.key = r.parent_key
       WHERE m.slug IS NULL AND c.txid = given.txid AND c.index = given.index ORDER BY r.position LIMIT 1
     ) p ON true
     LEFT JOIN LATERAL (
       SELECT i.txid, i.index FROM chain.inscriptions i WHERE i.key = (
         -- OFFSET 0: an order by key would be a walk along all galleries
         SELECT min(key) FROM (
           SELECT key FROM chain.gallery_pages
           WHERE m.slug IS NULL AND p.txid IS NULL
             AND chain.id_hashes(ids) @> chain.id_hashes(given.id) AND position(given.id IN ids) > 0
           OFFSET 0) AS galleries)
     ) l ON true
     ORDER BY given.nth`,
    [
      ids.map(({ txid }) => Buffer.from(txid)),
      ids.map(({ index }) => index),
      ids.map((id) => Buffer.from(inscriptionIdBytes(id))),
    ],
  );
  return rows.map(
    ({ slug, txid, index }) =>
      slug ?? (txid === null || index === null ? null : formatInscriptionId(txid, index)),
  );
}
