import type pg from 'pg';

/**
 * Locks all balances of the accounts in a batch, in the same sequence as ledger postings. The amounts and reserved
 * units of these balances then stay unchanged until the transaction ends.
 */
export async function lockBalancesOf(tx: pg.ClientBase, payout: string): Promise<void> {
  await tx.query(
    `SELECT FROM service.token_balances
      WHERE account IN (SELECT account FROM service.withdrawals WHERE payout = $1) ORDER BY account, asset FOR UPDATE`,
    [payout],
  );
}

/**
 * Finds withdrawals of a batch that the balances no longer cover, because a reorganisation took back incoming payments.
 * Signed withdrawals are covered first, then the oldest withdrawals of an account. If an account owes more than
 * allowed, all its withdrawals are in the result.
 *
 * @param debtMax sats that an account may owe (WITHDRAW_DEBT_MAX_SATS)
 */
export async function uncoveredWithdrawals(
  client: pg.Pool | pg.ClientBase,
  payout: string,
  debtMax: bigint,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `WITH members AS (
       SELECT id, account FROM service.withdrawals WHERE payout = $1 AND state IN ('pending', 'processing')
     ), taking AS (
       SELECT w.* FROM service.withdrawals AS w
        WHERE w.payout = $1 AND w.state IN ('pending', 'processing')
       UNION ALL
       SELECT w.* FROM service.withdrawals AS w
        WHERE w.state = 'pending' AND w.payout IS DISTINCT FROM $1 AND w.account IN (SELECT account FROM members)
     ), open AS (
       SELECT w.id, w.account, side.asset,
              sum(side.units) OVER (PARTITION BY w.account, side.asset ORDER BY w.created_at DESC, w.id DESC) - side.units AS newer
         FROM taking AS w
         CROSS JOIN LATERAL (VALUES (w.asset, w.reserved_units), (0, w.reserved_sats::numeric)) AS side (asset, units)
        WHERE side.units > 0
     ), balances AS (
       SELECT account, asset, amount + CASE WHEN asset = 0 THEN $2::numeric ELSE 0 END AS most, reserved
         FROM service.token_balances WHERE account IN (SELECT account FROM members))
     SELECT id FROM members AS m
      WHERE EXISTS (SELECT FROM balances AS b WHERE b.account = m.account AND b.most < 0)
         OR EXISTS (SELECT FROM open AS o JOIN balances AS b USING (account, asset)
                     WHERE o.id = m.id AND b.most < b.reserved - o.newer)`,
    [payout, debtMax],
  );
  return rows.map(({ id }) => id);
}
