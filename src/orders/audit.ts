import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { LedgerAccount } from './ledger.ts';

/** An order whose ledger says something else than the chain. */
export interface AuditDifference {
  readonly orderId: string;
  /** Sats. */
  readonly ledger: bigint;
  readonly chain: bigint;
  /** What is compared, in words. */
  readonly what: string;
}

export interface Audit {
  readonly orders: number;
  /** What each account holds. `outside` is what all others hold, negative. */
  readonly balances: readonly { readonly account: LedgerAccount; readonly sats: bigint }[];
  readonly differences: readonly AuditDifference[];
}

/** As many as are shown. */
const differencesMax = 1000;

/**
 * Compares the ledger with the payments in blocks, in one snapshot: each confirmed payment to an order was received once,
 * and no account is overdrawn. An order that is just being brought on by another process may differ for that moment.
 */
export function audit(pool: pg.Pool): Promise<Audit> {
  return withTransaction(
    pool,
    async (client) => {
      const [orders, balances, received, overdrawn] = [
        await client.query<{ count: number }>('SELECT count(*) AS count FROM service.orders'),
        await client.query<{ account: LedgerAccount; sats: string }>(
          `SELECT account, sum(sats)::text AS sats
           FROM (SELECT to_account AS account, sats FROM service.ledger_entries
                 UNION ALL SELECT from_account, -sats FROM service.ledger_entries) AS moved
          GROUP BY account ORDER BY account`,
        ),
        await client.query<{ id: string; ledger: string; chain: string }>(
          `WITH posted AS (
           SELECT order_id, sum(CASE WHEN from_account = 'outside' THEN sats ELSE -sats END) AS sats
             FROM service.ledger_entries
            WHERE (from_account = 'outside' AND to_account = 'owed' OR from_account = 'owed' AND to_account = 'outside')
              AND vout IS NOT NULL
            GROUP BY order_id),
         paid AS (
           SELECT o.id, sum(p.value) AS sats FROM service.orders AS o JOIN service.payments_seen AS p USING (script)
            WHERE p.height IS NOT NULL GROUP BY o.id)
         SELECT o.id, coalesce(posted.sats, 0)::text AS ledger, coalesce(paid.sats, 0)::text AS chain
           FROM service.orders AS o LEFT JOIN posted ON posted.order_id = o.id LEFT JOIN paid ON paid.id = o.id
          WHERE coalesce(posted.sats, 0) <> coalesce(paid.sats, 0) LIMIT $1`,
          [differencesMax],
        ),
        await client.query<{ id: string; account: string; sats: string }>(
          `SELECT order_id AS id, account, sum(sats)::text AS sats
           FROM (SELECT order_id, to_account AS account, sats FROM service.ledger_entries
                 UNION ALL SELECT order_id, from_account, -sats FROM service.ledger_entries) AS moved
          WHERE account <> 'outside' GROUP BY order_id, account HAVING sum(sats) < 0 LIMIT $1`,
          [differencesMax],
        ),
      ];
      return {
        orders: orders.rows[0]?.count ?? 0,
        balances: balances.rows.map(({ account, sats }) => ({ account, sats: BigInt(sats) })),
        differences: [
          ...received.rows.map(({ id, ledger, chain }) => ({
            orderId: id,
            ledger: BigInt(ledger),
            chain: BigInt(chain),
            what: 'received in blocks',
          })),
          ...overdrawn.rows.map(({ id, account, sats }) => ({
            orderId: id,
            ledger: BigInt(sats),
            chain: 0n,
            what: `the account ${account} is overdrawn`,
          })),
        ],
      };
    },
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  );
}
