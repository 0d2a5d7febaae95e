import type pg from 'pg';
import type { RevenueFacts } from '#payouts/planning/revenue.ts';

/**
 * Revenue in payouts whose transactions are not in a block, by account. `unsigned` is the part in payouts that have no
 * transaction yet.
 */
export async function openRevenue(
  client: pg.Pool | pg.ClientBase,
): Promise<Pick<RevenueFacts, 'open' | 'unsigned'>> {
  const { rows } = await client.query<{ service: string; operator: string; unsigned: string }>(
    `SELECT coalesce(sum(s.sats) FILTER (WHERE s.account = 'service'), 0)::text AS service,
            coalesce(sum(s.sats) FILTER (WHERE s.account = 'operator'), 0)::text AS operator,
            coalesce(sum(s.sats) FILTER (WHERE p.state = 'asked'), 0)::text AS unsigned
       FROM service.payouts AS p JOIN service.payout_shares AS s ON s.payout = p.id
      WHERE p.state IN ('asked', 'signed', 'sent') AND p.kind = 'revenue'`,
  );
  const [row] = rows;
  return {
    open: { service: BigInt(row?.service ?? 0), operator: BigInt(row?.operator ?? 0) },
    unsigned: BigInt(row?.unsigned ?? 0),
  };
}
