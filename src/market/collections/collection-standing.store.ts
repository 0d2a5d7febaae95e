import type { ClientBase } from 'pg';

/** Values that show whether kept lists of a collection are still valid. */
export interface CollectionStanding {
  /**
   * Revision of the import, which changes with each change of the import. Null if the chain decides the members of the
   * collection.
   */
  readonly revision: string | null;
  /** `chain.state.derived_epoch`, which changes at the start and at the end of each rebuild of a derived table. */
  readonly epoch: number;
  /** Hash of the block at the requested height. Null if there is no such block. */
  readonly hash: Buffer | null;
  /** Progress of new rules for sales. Null if all sales were classified by the same rules. */
  readonly remade: RemadeSales | null;
}

/** Progress of a pass that rebuilds sales by other rules, block by block (docs/adr/0052-rules-of-sales.md). */
export interface RemadeSales {
  /** Height up to which blocks have new rows. -1 if no block has new rows. */
  readonly height: number;
  /**
   * `chain.state.undo_epoch`, which changes with each undone block. A block that is undone and applied again has new
   * rows, even if it is above `height`.
   */
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
