import type pg from 'pg';
import { indexTipHeight } from '#chain/blocks/index-tip.queries.ts';
import { heightOfReveal } from '#chain/inscriptions/reveal.queries.ts';
import type { ReferralBalance } from '#payouts/planning/payable.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';

/**
 * Reads what each code has earned and got, by one statement: a payout that is mined meanwhile is either open or paid. A delivery
 * is as deep as its last reveal. Codes of which the ledger has entries alone, those with the most first. Two look-ups an
 * order.
 *
 * @param code null: all
 */
export async function readReferralBalances(
  client: pg.Pool | pg.ClientBase,
  confirmations: number,
  code: string | null = null,
): Promise<ReferralBalance[]> {
  const { rows } = await client.query<{
    code: string;
    address: string | null;
    script: Buffer | null;
    earned: string;
    deep: string;
    paid: string;
    open: string;
  }>(
    `WITH moved AS MATERIALIZED (
       SELECT to_owner AS code, subject_kind, subject_id, amount FROM service.ledger_entries
        WHERE to_owner IS NOT NULL AND to_account = 'referral' AND asset = ${satsAsset} AND ($2::text IS NULL OR to_owner = $2)
       UNION ALL
       SELECT from_owner, subject_kind, subject_id, -amount FROM service.ledger_entries
        WHERE from_owner IS NOT NULL AND from_account = 'referral' AND asset = ${satsAsset} AND ($2::text IS NULL OR from_owner = $2)
     ), of_orders AS MATERIALIZED (
       SELECT code, subject_id, sum(amount) AS sats FROM moved WHERE subject_kind = 'order'
        GROUP BY code, subject_id HAVING sum(amount) <> 0
     ), earned AS (
       SELECT code, sum(sats) AS sats, sum(sats) FILTER (WHERE height <= ${indexTipHeight} - $1::integer + 1) AS deep
         FROM (SELECT o.code, o.sats,
                      (SELECT max(${heightOfReveal('t.txid')}) FROM service.wallet_transactions AS t
                        WHERE t.order_id = o.subject_id AND t.kind = 'reveal' AND t.superseded_at IS NULL) AS height
                 FROM of_orders AS o) AS placed
        GROUP BY code
     ), paid AS (
       SELECT code, -sum(amount) AS sats FROM moved WHERE subject_kind = 'payout' GROUP BY code
     ), open AS (
       SELECT s.owner AS code, sum(s.sats) AS sats
         FROM service.payouts AS p JOIN service.payout_shares AS s ON s.payout = p.id
        WHERE p.state IN ('asked', 'signed', 'sent') AND s.account = 'referral' GROUP BY s.owner
     )
     SELECT c.code, r.address, r.script, coalesce(earned.sats, 0)::text AS earned, coalesce(earned.deep, 0)::text AS deep,
            coalesce(paid.sats, 0)::text AS paid, coalesce(open.sats, 0)::text AS open
       FROM (SELECT DISTINCT code FROM moved) AS c
       LEFT JOIN earned USING (code) LEFT JOIN paid USING (code) LEFT JOIN open USING (code)
       LEFT JOIN service.referrals AS r USING (code)
      ORDER BY coalesce(earned.sats, 0) - coalesce(paid.sats, 0) DESC, c.code`,
    [confirmations, code],
  );
  return rows.map(({ earned, deep, paid, open, ...row }) => ({
    ...row,
    earned: BigInt(earned),
    deep: BigInt(deep),
    paid: BigInt(paid),
    open: BigInt(open),
  }));
}
