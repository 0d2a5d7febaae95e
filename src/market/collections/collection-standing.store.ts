import type { ClientBase } from 'pg';

/** Values that show whether lists of a collection are still true. */
export interface CollectionStanding {
  /** Revision of an import, which each change replaces. Null: the chain decides the members of the collection. */
  readonly revision: string | null;
  /** `chain.state.derived_epoch`: it changes at the start and at the end of a rebuild of a derived table. */
  readonly epoch: number;
  /** Hash of the block at the height. Null: no block. */
  readonly hash: Buffer | null;
  /** Null: all sales are of the same rules. */
  readonly remade: RemadeSales | null;
}

/** Sales are being rebuilt by other rules, block by block (docs/adr/0052-rules-of-sales.md). */
export interface RemadeSales {
  /** Blocks up to here have new rows; -1: none. */
  readonly height: number;
  /** `chain.state.undo_epoch`: a block that is undone and applied again has new rows above that height. */
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
