import type pg from 'pg';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';

/** Unspent outputs of the inventory that have other sats than their rows say. */
export async function strayStock(pool: pg.Pool): Promise<string[]> {
  const { rows } = await pool.query<{ txid: Buffer; vout: number; listed: string[]; packed: Buffer }>(
    `SELECT i.txid, i.vout, i.ranges::text[] AS listed, r.ranges AS packed
       FROM service.inventory_outputs AS i JOIN chain.sat_ranges AS r ON r.txid = i.txid AND r.vout = i.vout`,
  );
  return rows.flatMap(({ txid, vout, listed, packed }) => {
    const held = unpackRanges(packed)
      .flatMap(({ start, end }) => [start, end])
      .join();
    return held === listed.join()
      ? []
      : [
          `${Buffer.from(txid).reverse().toString('hex')}:${vout} of the inventory holds ${held}, not ${listed.join()}`,
        ];
  });
}
