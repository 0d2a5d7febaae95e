import type { ClientBase } from 'pg';

/** By what lists of a collection are known to be true still. */
export interface CollectionStanding {
  /** Of an import, another one after each change. Null: the chain says who belongs to the collection. */
  readonly revision: string | null;
  /** `chain.state.derived_epoch`: another one once a derived table is made anew, and at the end of that. */
  readonly epoch: number;
  /** Of the block at the height. Null: there is none. */
  readonly hash: Buffer | null;
  /** Null: all sales are of the same rules. */
  readonly remade: RemadeSales | null;
}

/** Sales are being made anew by other rules, block by block (docs/adr/0052-rules-of-sales.md). */
export interface RemadeSales {
  /** Blocks up to here have new rows; -1: none has. */
  readonly height: number;
  /** `chain.state.undo_epoch`: a block that is taken back and comes again has new rows above that height. */
  readonly undoEpoch: number;
}

export async function standingOf(
  client: ClientBase,
  slug: string,
  height: number,
): Promise<CollectionStanding> {
  const { rows } = await client.query<
    Omit<CollectionStanding, 'remade'> & { readonly undoEpoch: number; readonly remadeTo: number | null }
  >(
    `SELECT s.derived_epoch AS epoch, s.undo_epoch AS "undoEpoch",
       (SELECT coalesce(tip_height, -1) FROM chain.derived_tables WHERE name = 'sales' AND is_remade) AS "remadeTo",
       (SELECT revision::text FROM service.market_collections WHERE slug = $1) AS revision,
       (SELECT hash FROM chain.blocks WHERE height = $2) AS hash
     FROM chain.state s`,
    [slug, height],
  );
  const [row] = rows;
  if (row === undefined) return { revision: null, epoch: 0, hash: null, remade: null };
  const { undoEpoch, remadeTo, ...standing } = row;
  return { ...standing, remade: remadeTo === null ? null : { height: remadeTo, undoEpoch } };
}
