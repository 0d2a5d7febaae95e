import type pg from 'pg';
import { indexTipHeight } from '#chain/blocks/index-tip.queries.ts';
import { heightOfReveal } from '#chain/inscriptions/reveal.queries.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { PartnerBalance } from '#payouts/planning/payable.ts';
import { type PartnerAccount, satsAsset } from '#purse/ledger/ledger.ts';

export interface WantedBalances {
  readonly accounts: readonly PartnerAccount[];
  /** The code of one referral, or the Bitcoin address of one creator. Null means all partners. */
  readonly owner: string | null;
  /** The setting PAYOUT_CONFIRMATIONS. */
  readonly confirmations: number;
  /**
   * Network of the creators' addresses. Null if there is no wallet yet, because the scripts of the creators are then
   * unknown.
   */
  readonly network: NetworkParameters | null;
}

/**
 * Reads the earnings and payments of each partner. Uses one statement, so a payout that is mined meanwhile is either
 * open or paid. A delivery is as deep as its last reveal. Returns only partners with entries in the ledger, the highest
 * amount first. The cost is two look-ups per order.
 */
export async function readPartnerBalances(
  client: pg.Pool | pg.ClientBase,
  { accounts, owner, confirmations, network }: WantedBalances,
): Promise<PartnerBalance[]> {
  const { rows } = await client.query<{
    account: PartnerAccount;
    owner: string;
    address: string | null;
    script: Buffer | null;
    earned: string;
    deep: string;
    paid: string;
    open: string;
  }>(
    `WITH moved AS MATERIALIZED (
       SELECT to_account AS account, to_owner AS owner, subject_kind, subject_id, amount FROM service.ledger_entries
        WHERE to_owner IS NOT NULL AND to_account = ANY($3) AND asset = ${satsAsset} AND ($2::text IS NULL OR to_owner = $2)
       UNION ALL
       SELECT from_account, from_owner, subject_kind, subject_id, -amount FROM service.ledger_entries
        WHERE from_owner IS NOT NULL AND from_account = ANY($3) AND asset = ${satsAsset} AND ($2::text IS NULL OR from_owner = $2)
     ), of_orders AS MATERIALIZED (
       SELECT account, owner, subject_id, sum(amount) AS sats FROM moved WHERE subject_kind = 'order'
        GROUP BY account, owner, subject_id HAVING sum(amount) <> 0
     ), earned AS (
       SELECT account, owner, sum(sats) AS sats,
              sum(sats) FILTER (WHERE height <= ${indexTipHeight} - $1::integer + 1) AS deep
         FROM (SELECT o.account, o.owner, o.sats,
                      (SELECT max(${heightOfReveal('t.txid')}) FROM service.wallet_transactions AS t
                        WHERE t.order_id = o.subject_id AND t.kind = 'reveal' AND t.superseded_at IS NULL) AS height
                 FROM of_orders AS o) AS placed
        GROUP BY account, owner
     ), paid AS (
       SELECT account, owner, -sum(amount) AS sats FROM moved WHERE subject_kind = 'payout' GROUP BY account, owner
     ), open AS (
       SELECT s.account, s.owner, sum(s.sats) AS sats
         FROM service.payouts AS p JOIN service.payout_shares AS s ON s.payout = p.id
        WHERE p.state IN ('asked', 'signed', 'sent') AND s.account = ANY($3) GROUP BY s.account, s.owner
     )
     SELECT c.account, c.owner, CASE c.account WHEN 'creator' THEN c.owner ELSE r.address END AS address, r.script,
            coalesce(earned.sats, 0)::text AS earned, coalesce(earned.deep, 0)::text AS deep,
            coalesce(paid.sats, 0)::text AS paid, coalesce(open.sats, 0)::text AS open
       FROM (SELECT DISTINCT account, owner FROM moved) AS c
       LEFT JOIN earned USING (account, owner) LEFT JOIN paid USING (account, owner) LEFT JOIN open USING (account, owner)
       LEFT JOIN service.referrals AS r ON c.account = 'referral' AND r.code = c.owner
      ORDER BY coalesce(earned.sats, 0) - coalesce(paid.sats, 0) DESC, c.owner, c.account`,
    [confirmations, owner, accounts],
  );
  return rows.map(({ earned, deep, paid, open, ...row }) => ({
    ...row,
    script: row.account === 'creator' ? scriptOf(row.owner, network) : row.script,
    earned: BigInt(earned),
    deep: BigInt(deep),
    paid: BigInt(paid),
    open: BigInt(open),
  }));
}

/** The script of a creator's address, or null if it is not an address of the network. */
function scriptOf(address: string, network: NetworkParameters | null): Uint8Array | null {
  const parsed = network === null ? null : parseAddress(address, network);
  return parsed?.kind === 'script' ? parsed.script : null;
}
