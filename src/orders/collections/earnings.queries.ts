import type pg from 'pg';
import { collectionOrders } from '#collections/selling/collection-orders.queries.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';

/** Sats that a partner has earned with a collection. */
export interface CollectionEarning {
  readonly collection: string;
  readonly kind: 'creator' | 'referral';
  /** The address of the creator, or the code of the referral. */
  readonly owner: string;
  /** Sats from deliveries, without the deliveries that a reorganisation removed. */
  readonly sats: bigint;
  /** Number of orders from which the sats come. */
  readonly orders: number;
  /** Number of items of these orders. */
  readonly items: number;
}

/**
 * Sats that creators and referrers have earned with collections according to the ledger, whether paid out or not. Needs
 * one look-up for each order. Within a collection, the largest earnings come first.
 *
 * @param collection slug of the only collection to read; if it is null, all collections are read
 */
export async function readCollectionEarnings(
  client: pg.Pool | pg.ClientBase,
  collection: string | null,
): Promise<readonly CollectionEarning[]> {
  const { rows } = await client.query<Omit<CollectionEarning, 'sats'> & { readonly sats: string }>(
    `WITH moved AS (
       SELECT o.collection, o.order_id, o.items, m.account, m.owner, sum(m.amount) AS sats
         FROM (${collectionOrders}) AS o
         CROSS JOIN LATERAL (
           SELECT e.to_account AS account, e.to_owner AS owner, e.amount FROM service.ledger_entries AS e
            WHERE e.subject_kind = 'order' AND e.subject_id = o.order_id AND e.asset = ${satsAsset}
              AND e.to_account IN ('creator', 'referral')
           UNION ALL
           SELECT e.from_account, e.from_owner, -e.amount FROM service.ledger_entries AS e
            WHERE e.subject_kind = 'order' AND e.subject_id = o.order_id AND e.asset = ${satsAsset}
              AND e.from_account IN ('creator', 'referral')) AS m
        WHERE $1::text IS NULL OR o.collection = $1
        GROUP BY o.collection, o.order_id, o.items, m.account, m.owner HAVING sum(m.amount) <> 0
     )
     SELECT collection, account AS kind, owner, sum(sats)::text AS sats, count(*)::integer AS orders, sum(items)::integer AS items
       FROM moved GROUP BY collection, account, owner ORDER BY collection, sum(sats) DESC, account, owner`,
    [collection],
  );
  return rows.map((row) => ({ ...row, sats: BigInt(row.sats) }));
}
