import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { DerivedTable, DerivedTarget } from '../derived-table.ts';
import { everyBlock } from '../every-block.ts';
import { partitionQuery } from './compare-sats.ts';
import { openSatMemory, writeRecent } from './recent-sats.ts';
import { encodePacked, satTargets } from './sat-encoding.ts';
import { satIndexes } from './sat-indexes.ts';
import { SatRows } from './sat-rows.ts';

const nothing = new Uint8Array(0);

/** The ranges of sats of every output, as an ord --index-sats has them (docs/adr/0035-sats-from-genesis.md). */
export const sats: DerivedTable = {
  name: 'sats',
  facts: ['coin-flow'],
  // spent outputs lose their rows, and what a block spent is forgotten: `compare` knows what can be compared
  targets: Object.values(satTargets).map(
    (target): DerivedTarget => ({ ...target, keyColumns: 0, rowsBy: 'compare' }),
  ),
  indexes: satIndexes,
  firstHeight: () => 0,
  isWanted: ({ indexSats }) => indexSats,
  ...everyBlock({ name: 'index of sats', fixed: 'sat_index_fixed', gap: 'sat_index_gap' }),
  countsLostSats: true,
  openMemory: openSatMemory,
  begin: ([ranges, inscribed, rare, lost, spent, recent], context) => {
    assert(
      ranges !== undefined &&
        inscribed !== undefined &&
        rare !== undefined &&
        lost !== undefined &&
        spent !== undefined &&
        recent !== undefined,
      'six encoders',
    );
    return new SatRows({ ranges, sats: inscribed, rare, lost, spent, recent }, context);
  },
  settle: writeRecent,
  refuseUndo,
  async undo(tx, { ref: { height }, firstKey }) {
    const { rows } = await tx.query<{ outputs: Buffer }>(
      'DELETE FROM chain.spent_sats WHERE height = $1 RETURNING outputs',
      [height],
    );
    const [row] = rows;
    if (row === undefined) throw forgotten(height);
    await tx.query('DELETE FROM chain.sats WHERE key >= $1', [firstKey]);
    await tx.query(
      `WITH ranges AS (DELETE FROM chain.sat_ranges WHERE height = $1),
         rare AS (DELETE FROM chain.rare_sats WHERE height = $1)
       DELETE FROM chain.lost_sats WHERE height = $1`,
      [height],
    );
    const out = encoderOf(satTargets.ranges);
    encodePacked(out, row.outputs);
    if (out.rows > 0) await copyBinary(tx, satTargets.ranges, out);
    return { made: nothing, spent: nothing };
  },
  strays: partitionQuery,
};

/** Before the first block is taken back: a part of them would leave an index that fits no chain. */
async function refuseUndo(tx: pg.ClientBase, height: Height | -1): Promise<void> {
  const { rows } = await tx.query<{ lowest: Height | null }>(
    `SELECT max(b.height) AS lowest FROM chain.blocks b
     WHERE b.height > $1 AND NOT EXISTS (SELECT FROM chain.spent_sats s WHERE s.height = b.height)`,
    [height],
  );
  const lowest = rows[0]?.lowest ?? null;
  if (lowest !== null) throw forgotten(lowest);
}

function forgotten(height: Height): AppError {
  return new AppError(
    'sats_forgotten',
    `Block ${height} cannot be taken back: which sats it spent is no longer kept (SATS_KEEP_BLOCKS).`,
    { height },
  );
}
