import type pg from 'pg';
import type { SecondaryIndex } from '../derived-table.ts';

/** Columns of the index that leads from an input to its spent output. */
const outpoint = { table: 'chain.sat_ranges', columns: 'chain.hash64(txid, vout)' } as const;

/** The secondary indexes of the tables of sats. */
export const satIndexes: Readonly<Record<string, SecondaryIndex>> = {
  sat_ranges_outpoint: outpoint,
  // finds the inscriptions on a sat
  sats_sat: { table: 'chain.sats', columns: 'sat, key' },
  // finds the outputs that a block made
  sat_ranges_height: { table: 'chain.sat_ranges', columns: 'height', isForUndo: true },
  rare_sats_height: { table: 'chain.rare_sats', columns: 'height', isForUndo: true },
};

/** Builds the index that questions need, if it is missing. A first load builds it before its first question. */
export async function ensureOutpointIndex(client: pg.ClientBase): Promise<void> {
  await client.query(
    `CREATE INDEX IF NOT EXISTS sat_ranges_outpoint ON ${outpoint.table} (${outpoint.columns})`,
  );
}
