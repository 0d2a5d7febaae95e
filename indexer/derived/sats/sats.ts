import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { asBlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';
import type { DerivedTable, DerivedTarget } from '../derived-table.ts';
import { everyBlock } from '../every-block.ts';
import { partitionQuery } from './compare-sats.ts';
import { openSatMemory, writeRecent } from './recent-sats.ts';
import { encodePacked, satTargets } from './sat-encoding.ts';
import { satIndexes } from './sat-indexes.ts';
import { SatRows } from './sat-rows.ts';
import { traceSpent } from './trace-spent.ts';

const nothing = new Uint8Array(0);

/** The ranges of sats of every output, as an ord --index-sats has them (docs/adr/0035-sats-from-genesis.md). */
export const sats: DerivedTable = {
  name: 'sats',
  facts: ['coin-flow'],
  // spent outputs lose their rows, and the spends of old blocks are deleted, so only `compare` knows what can be
  // compared
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
  async prepareUndo(client, ref, past, signal) {
    const { rowCount } = await client.query('SELECT FROM chain.spent_sats WHERE height = $1', [ref.height]);
    if (rowCount === 1) return;
    assert(past !== null, 'an undo without the past was refused');
    await traceSpent(client, ref, past, signal);
  },
  async undo(tx, { ref: { height }, firstKey }) {
    const { rows } = await tx.query<{ outputs: Buffer }>(
      'DELETE FROM chain.spent_sats WHERE height = $1 RETURNING outputs',
      [height],
    );
    const [row] = rows;
    assert(row !== undefined, `what block ${height} spent is known before it is taken back`);
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

/**
 * Throws if the blocks above a height cannot all be taken back. Called before the first block is taken back, because
 * half an undo would leave a tip that fits no chain. If the spends of the lowest block must come from the past, that
 * block and block 1, where walks can end, are read now. A node that lost the block or was pruned is noticed at once.
 */
async function refuseUndo(client: pg.ClientBase, height: Height | -1, past: PastChain | null): Promise<void> {
  const { rows } = await client.query<UnkeptRow>(
    `WITH unkept AS (
       SELECT b.height, b.hash FROM chain.blocks b
       WHERE b.height > $1 AND NOT EXISTS (SELECT FROM chain.spent_sats s WHERE s.height = b.height))
     SELECT (SELECT max(height) FROM unkept) AS highest,
       (SELECT hash FROM unkept ORDER BY height LIMIT 1) AS hash,
       (SELECT min(height) FROM unkept) AS lowest,
       (SELECT hash FROM chain.blocks WHERE height = 1) AS first,
       (SELECT count(*)::integer FROM chain.recent_sats) AS unwritten,
       (SELECT min(l.height) FROM chain.lost_sats l JOIN unkept u ON u.height = l.height
        WHERE l.replaced_sats <> coalesce((SELECT before.replaced_sats FROM chain.lost_sats before
          WHERE before.height < l.height ORDER BY before.height DESC LIMIT 1), 0)) AS twin`,
    [height],
  );
  const [row] = rows;
  assert(row !== undefined, 'a query without a table has one row');
  const { highest, lowest, hash, first, unwritten, twin } = row;
  if (highest === null || lowest === null || hash === null) return;
  if (past === null) throw forgotten(highest, 'there is no node that knows these sats');
  if (unwritten > 0) throw forgotten(highest, 'the first load was interrupted and must be completed first');
  if (twin !== null) throw forgotten(twin, 'its coinbase replaced an earlier coinbase (BIP 30)');
  await past.transactions(refOf(lowest, hash));
  if (first !== null) await past.transactions(refOf(asHeight(1), first));
}

const refOf = (height: Height, hash: Uint8Array): BlockRef => ({
  height,
  hash: asBlockHash(Uint8Array.from(hash)),
});

/** Blocks without a row of `chain.spent_sats`, and facts that decide whether these rows can be rebuilt. */
interface UnkeptRow {
  readonly highest: Height | null;
  readonly lowest: Height | null;
  readonly hash: Buffer | null;
  /** Hash of block 1. */
  readonly first: Buffer | null;
  readonly unwritten: number;
  readonly twin: Height | null;
}

function forgotten(height: Height, why: string): AppError {
  return new AppError(
    'sats_forgotten',
    `Block ${height} cannot be taken back, because the sats that it spent are no longer kept (SATS_KEEP_BLOCKS), and ${why}.`,
    { height },
  );
}
