import type { ClientBase } from 'pg';

/** By what lists of a collection are known to be true still. */
export interface CollectionStanding {
  /** Of an import, another one after each change. Null: the chain says who belongs to the collection. */
  readonly revision: string | null;
  /** `chain.state.derived_epoch`: another one after a derived table was made anew. */
  readonly epoch: number;
  /** Of the block at the height. Null: there is none. */
  readonly hash: Buffer | null;
}

export async function standingOf(
  client: ClientBase,
  slug: string,
  height: number,
): Promise<CollectionStanding> {
  const { rows } = await client.query<CollectionStanding>(
    `SELECT s.derived_epoch AS epoch,
       (SELECT revision::text FROM service.market_collections WHERE slug = $1) AS revision,
       (SELECT hash FROM chain.blocks WHERE height = $2) AS hash
     FROM chain.state s`,
    [slug, height],
  );
  return rows[0] ?? { revision: null, epoch: 0, hash: null };
}
