import type pg from 'pg';
import type { OrderVerdict } from '#test/support/orders/order-verdict.ts';
import type { Customer } from './customers.ts';
import { mintUnits } from './minted-runes.ts';

/**
 * Differences between the mints that orders report as executed and the units of their receivers, according to the
 * index.
 */
export async function mintFaults(
  pool: pg.Pool,
  all: readonly Customer[],
  verdicts: readonly OrderVerdict[],
): Promise<string[]> {
  const found: string[] = [];
  for (const [place, { id, kind, receivers }] of all.entries()) {
    if (kind !== 'mints') continue;
    const { rows } = await pool.query<{ units: string; executed: number; decided: number }>(
      `SELECT (SELECT coalesce(sum(b.amount), 0)::text FROM chain.rune_balances AS b
                WHERE b.script = $2 AND b.spent_height IS NULL) AS units,
              count(*) FILTER (WHERE m.is_executed)::int AS executed,
              count(*) FILTER (WHERE m.is_executed IS NOT NULL)::int AS decided
         FROM service.ordered_mints AS m JOIN service.wallet_transactions AS t USING (txid)
        WHERE m.order_id = $1 AND t.superseded_at IS NULL`,
      [id, Buffer.from(receivers[0]!, 'hex')],
    );
    const { units = '0', executed = 0, decided = 0 } = rows[0] ?? {};
    if (BigInt(units) !== BigInt(executed) * mintUnits)
      found.push(`${id} says that ${executed} mints were executed, and its receiver has ${units} units`);
    const { fate, state } = verdicts[place]!;
    if (state === 'completed' && fate.delivered.length !== decided)
      found.push(`${id} has ${decided} mints in blocks, and ${fate.delivered.length} outputs of them`);
  }
  return found;
}
