import type pg from 'pg';

/** Whether a collection sells items to at least some addresses now, because a phase is open and has items left. */
export async function isSelling(client: pg.ClientBase, collection: string): Promise<boolean> {
  const { rowCount } = await client.query({
    name: 'is mint collection selling',
    text: `SELECT FROM service.mint_collections AS c
            WHERE c.id = $1 AND c.state = 'approved' AND c.taken < c.total_count
              AND (c.alt_prices IS NULL OR EXISTS (SELECT FROM service.mint_rune_prices AS r WHERE r.collection = c.id))
              AND EXISTS (SELECT FROM service.mint_phases AS p
                           WHERE p.collection = c.id AND (p.items IS NULL OR p.taken < p.items)
                             AND (p.starts_at IS NULL OR p.starts_at <= clock_timestamp())
                             AND (p.ends_at IS NULL OR clock_timestamp() < p.ends_at))`,
    values: [collection],
  });
  return rowCount === 1;
}
