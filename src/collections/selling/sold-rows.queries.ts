import type pg from 'pg';

/** A counter of a collection that differs from its rows. */
export interface RowDifference {
  /**
   * The kind of the counter:
   * - `taken`, `unpaid`: counters of the collection.
   * - `phase`: the counter of a phase.
   * - `items`: the number of items of an order.
   * - `allowance`: the allowance of an address, if its paid orders have more items.
   */
  readonly kind: 'taken' | 'unpaid' | 'phase' | 'items' | 'allowance';
  /**
   * The phase, the order, or the phase and the script in hex. Null if the difference concerns the complete collection.
   */
  readonly where: string | null;
  /** The number that the counter, the order, or the list has. */
  readonly noted: number;
  readonly found: number;
}

/** Collections that have items, sorted by id. */
export async function soldCollections(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.mint_collections WHERE state IN ('approved', 'closed') ORDER BY id`,
  );
  return rows.map(({ id }) => id);
}

/**
 * Compares the counters of a collection with its rows. Uses one statement, because a transaction changes counters and
 * rows together. Reads all items and orders of the collection.
 */
export async function differingRows(client: pg.ClientBase, collection: string): Promise<RowDifference[]> {
  const { rows } = await client.query<RowDifference>(
    `WITH sold AS (
       SELECT order_id, phase, items, numbers, script, standing FROM service.mint_orders WHERE collection = $1
     ), held AS (
       SELECT * FROM sold WHERE standing IN ('making', 'unpaid', 'allowed')
     ), given AS (
       SELECT order_id, array_agg(item) AS numbers FROM service.mint_items
        WHERE collection = $1 AND order_id IS NOT NULL GROUP BY order_id
     ), compared AS (
       SELECT 'taken' AS kind, NULL AS place, c.taken AS noted, (SELECT coalesce(sum(cardinality(numbers)), 0) FROM given) AS found
         FROM service.mint_collections AS c WHERE c.id = $1
       UNION ALL
       SELECT 'unpaid', NULL, c.unpaid, (SELECT coalesce(sum(items), 0) FROM held WHERE standing <> 'allowed')
         FROM service.mint_collections AS c WHERE c.id = $1
       UNION ALL
       SELECT 'phase', p.phase, p.taken, (SELECT coalesce(sum(items), 0) FROM held WHERE held.phase = p.phase)
         FROM service.mint_phases AS p WHERE p.collection = $1
     )
     SELECT kind, place AS "where", noted, found::integer FROM compared WHERE noted <> found
     UNION ALL
     SELECT 'items', coalesce(h.order_id, g.order_id)::text, coalesce(cardinality(h.numbers), 0),
            CASE WHEN cardinality(h.numbers) = cardinality(g.numbers)
                 THEN (SELECT count(*)::integer FROM unnest(h.numbers) AS n WHERE n = ANY(g.numbers))
                 ELSE coalesce(cardinality(g.numbers), 0) END
       FROM held AS h FULL JOIN given AS g USING (order_id)
      WHERE NOT coalesce(h.numbers @> g.numbers AND g.numbers @> h.numbers, false)
     UNION ALL
     SELECT 'allowance', o.phase || ' ' || encode(o.script, 'hex'), a.items, sum(o.items)::integer
       FROM sold AS o
       JOIN service.mint_phases AS p ON p.collection = $1 AND p.phase = o.phase AND NOT p.is_public
       JOIN service.mint_allowances AS a ON a.collection = $1 AND a.phase = o.phase AND a.script = o.script
      WHERE o.standing = 'allowed' GROUP BY o.phase, o.script, a.items HAVING sum(o.items) > a.items`,
    [collection],
  );
  return rows;
}
