import type pg from 'pg';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import { type Pairs, type SatStore, shownName } from './sat-store.ts';

/** The tables of sats in a database, in the form that a SatStore has. */
export interface SatTables {
  readonly ranges: Record<string, Pairs>;
  readonly lost: Pairs;
  readonly lostSats: number;
  readonly rare: Record<string, string>;
}

const pairs = (bytes: Buffer): Pairs => unpackRanges(bytes).map(({ start, end }) => [start, end]);
const lostOutpoint = `${'0'.repeat(64)}:4294967295`;

export async function readSatTables(pool: pg.Pool): Promise<SatTables> {
  const held = await pool.query<{ txid: Buffer; vout: number; ranges: Buffer }>(
    'SELECT txid, vout, ranges FROM chain.sat_ranges',
  );
  const lost = await pool.query<{ ranges: Buffer; lost_sats: number }>(
    'SELECT ranges, lost_sats FROM chain.lost_sats ORDER BY height',
  );
  const rare = await pool.query<{ sat: number; sat_offset: number; vout: number; txid: Buffer | null }>(
    'SELECT DISTINCT ON (sat) sat, sat_offset, vout, txid FROM chain.rare_sats ORDER BY sat, height DESC',
  );
  const ranges = held.rows.map(({ txid, vout, ranges: packed }): [string, Pairs] => [
    outpointOf(txid, vout),
    pairs(packed),
  ]);
  const places = rare.rows.map(({ sat, sat_offset, vout, txid }): [string, string] => [
    String(sat),
    `${txid === null ? lostOutpoint : outpointOf(txid, vout)}:${sat_offset}`,
  ]);
  return {
    ranges: Object.fromEntries(ranges),
    lost: lost.rows.flatMap((row) => pairs(row.ranges)),
    lostSats: lost.rows.at(-1)?.lost_sats ?? 0,
    rare: Object.fromEntries(places),
  };
}

export function satTablesOf(store: SatStore): SatTables {
  return {
    ranges: store.ranges(),
    lost: store.lost(),
    lostSats: store.totals.lostSats,
    rare: Object.fromEntries([...store.rare()].map(([sat, place]) => [String(sat), place])),
  };
}

function outpointOf(txid: Buffer, vout: number): string {
  const index = Buffer.alloc(4);
  index.writeInt32LE(vout);
  return shownName(Buffer.concat([txid, index]).toString('latin1'));
}
