import type pg from 'pg';
import { isLive } from '#purse/transactions/spends.store.ts';

/**
 * Sats that coins of accounts must have. This is the sum of all balances above 0, less the payments of signed
 * withdrawals, plus the base fees of orders that have not ended. Base fees of ended orders belong to the service or an
 * account.
 *
 * If the transaction of a withdrawal can still be mined, it has already taken its coins. If the batch of a withdrawal
 * was given up, its coins are free again, so nothing is subtracted. The query costs one look-up for each balance, open
 * order, and open withdrawal.
 */
export async function owedToAccounts(client: pg.Pool | pg.ClientBase): Promise<bigint> {
  const { rows } = await client.query<{ sats: string }>(
    `WITH under_way AS (
       SELECT account, sum(reserved_sats + CASE WHEN asset = 0 THEN reserved_units ELSE 0 END) AS sats
         FROM service.withdrawals AS w
        WHERE state = 'processing' AND ${isLive('w.txid')} GROUP BY account)
     SELECT ((SELECT coalesce(sum(greatest(b.amount - coalesce(u.sats, 0), 0)), 0)
                FROM service.token_balances AS b LEFT JOIN under_way AS u USING (account) WHERE b.asset = 0)
           + (SELECT coalesce(sum(CASE WHEN to_account = 'owed' THEN amount ELSE 0 END
                                - CASE WHEN from_account = 'owed' THEN amount ELSE 0 END), 0)
                FROM service.token_orders AS o
                JOIN service.ledger_entries AS e ON e.subject_id = o.id AND e.subject_kind = 'token-order'
               WHERE o.state = 'pending' AND 'owed' IN (e.from_account, e.to_account)))::text AS sats`,
  );
  return BigInt(rows[0]?.sats ?? 0);
}
