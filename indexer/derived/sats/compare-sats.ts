import type pg from 'pg';
import type { LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import type { SatChanges } from '#indexer/ledger/sats/apply-sats.ts';
import { OutputNames } from '#indexer/ledger/sats/outpoint-name.ts';
import type { SatBlock } from '#indexer/ledger/sats/sat-block.ts';
import { packedRangeLength, unpackPairs } from '#kernel/sats/packed-ranges.ts';
import type { RowSets } from '../derived-table.ts';
import { type AppliedSats, lostRangesOf } from './applied-sats.ts';
import { packRanges } from './sat-encoding.ts';

const hashLength = 32;
const names = new OutputNames();

interface OutputRow {
  readonly name: string;
  readonly ranges: Buffer;
}

/**
 * Compares the rows of a block, for `verify`. If its spent sats are still known, all rows are derived again. Otherwise
 * the number of sats in each remaining output must equal its value, and `partitionQuery` checks the sum.
 *
 * @param applied null: the spent sats are unknown
 */
export async function compareSats(
  tx: pg.ClientBase,
  block: SatBlock,
  ledger: LedgerBlock,
  applied: AppliedSats | null,
): Promise<RowSets[]> {
  const left = await readLeft(tx, block.height);
  if (applied === null) return [compareValues(block, left)];
  const { changes } = applied;
  const sets = [
    compareRanges(block, changes, left),
    await compareInscribed(tx, ledger, applied),
    await compareRare(tx, block, changes),
    await compareLost(tx, changes),
  ];
  return sets;
}

/** The outputs of a block that are still unspent. */
async function readLeft(tx: pg.ClientBase, height: number): Promise<OutputRow[]> {
  const { rows } = await tx.query<{ outpoint: Buffer; ranges: Buffer }>(
    'SELECT txid || int4send(vout) AS outpoint, ranges FROM chain.sat_ranges WHERE height = $1',
    [height],
  );
  return rows.map(({ outpoint, ranges }) => {
    const vout = outpoint.readUInt32BE(hashLength);
    names.enter(outpoint, 0);
    return { name: names.of(vout), ranges };
  });
}

const shownOutpoint = (name: string): string => Buffer.from(name, 'latin1').toString('hex');

/** Yields the name and the row of every output of a block. */
function* outputsOf({ flow: { txFirstOutput, txid } }: SatBlock): Generator<[name: string, row: number]> {
  for (let tx = 0; tx + 1 < txFirstOutput.length; tx++) {
    const first = txFirstOutput[tx]!;
    names.enter(txid, tx * hashLength);
    for (let row = first; row < txFirstOutput[tx + 1]!; row++) yield [names.of(row - first), row];
  }
}

/**
 * Compares ranges of outputs. Stored rows must be outputs of the block. A missing row is allowed, because its output
 * may have been spent since.
 */
function compareRanges(
  block: SatBlock,
  { pairs, firstRange, rangeCount, spentHere }: SatChanges,
  left: readonly OutputRow[],
): RowSets {
  const there = new Set(left.map(({ name }) => name));
  const expected: string[] = [];
  for (const [name, row] of outputsOf(block)) {
    const count = rangeCount[row]!;
    if (!there.has(name) || spentHere[row] === 1 || count === 0) continue;
    const ranges = packRanges({ pairs, first: firstRange[row]!, count });
    expected.push(`outpoint ${shownOutpoint(name)}, ranges ${ranges.toString('hex')}`);
  }
  const found = left.map(
    ({ name, ranges }) => `outpoint ${shownOutpoint(name)}, ranges ${ranges.toString('hex')}`,
  );
  return { table: 'chain.sat_ranges', column: null, expected, found };
}

function compareValues(block: SatBlock, left: readonly OutputRow[]): RowSets {
  const there = new Set(left.map(({ name }) => name));
  const { value } = block.flow;
  const expected: string[] = [];
  for (const [name, row] of outputsOf(block))
    if (there.has(name)) expected.push(`outpoint ${shownOutpoint(name)}, ${value[row]!} sats`);
  const found = left.map(({ name, ranges }) => {
    const pairs = unpackPairs(ranges, 0, ranges.length / packedRangeLength);
    let size = 0;
    for (let at = 0; at < pairs.length; at += 2) size += pairs[at + 1]! - pairs[at]!;
    return `outpoint ${shownOutpoint(name)}, ${size} sats`;
  });
  return { table: 'chain.sat_ranges', column: null, expected, found };
}

async function compareInscribed(
  tx: pg.ClientBase,
  { inscriptions: { firstKey, count } }: LedgerBlock,
  { inscribed }: AppliedSats,
): Promise<RowSets> {
  const { rows } = await tx.query<{ key: number; sat: number }>(
    'SELECT key, sat FROM chain.sats WHERE key >= $1 AND key < $2',
    [firstKey, firstKey + count],
  );
  const shown = ({ key, sat }: { key: number; sat: number }): string => `key ${key}, sat ${sat}`;
  return {
    table: 'chain.sats',
    column: null,
    expected: inscribed.map(shown),
    found: rows.map(shown),
  };
}

async function compareRare(
  tx: pg.ClientBase,
  { flow }: SatBlock,
  { height, rare }: SatChanges,
): Promise<RowSets> {
  const { rows } = await tx.query<{ sat: number; sat_offset: number; vout: number; txid: Buffer | null }>(
    'SELECT sat, sat_offset, vout, txid FROM chain.rare_sats WHERE height = $1',
    [height],
  );
  const shown = (sat: number, txid: Uint8Array | null, vout: number, offset: number): string => {
    const place = txid === null ? 'lost' : `txid ${Buffer.from(txid).toString('hex')}, vout ${vout}`;
    return `sat ${sat}, ${place}, sat_offset ${offset}`;
  };
  const expected = rare.map(({ sat, tx: at, vout, offset }) => {
    const txid = at === null ? null : flow.txid.subarray(at * hashLength, (at + 1) * hashLength);
    return shown(sat, txid, vout, offset);
  });
  const found = rows.map((row) => shown(row.sat, row.txid, row.vout, row.sat_offset));
  return { table: 'chain.rare_sats', column: null, expected, found };
}

async function compareLost(tx: pg.ClientBase, changes: SatChanges): Promise<RowSets> {
  const { height, before, after } = changes;
  const { rows } = await tx.query<{ lost_sats: number; replaced_sats: number; ranges: Buffer }>(
    'SELECT lost_sats, replaced_sats, ranges FROM chain.lost_sats WHERE height = $1',
    [height],
  );
  const shown = (lost: number, replaced: number, ranges: Buffer): string =>
    `lost_sats ${lost}, replaced_sats ${replaced}, ranges ${ranges.toString('hex')}`;
  const isThere = after.lostSats !== before.lostSats || after.replacedSats !== before.replacedSats;
  return {
    table: 'chain.lost_sats',
    column: null,
    expected: isThere ? [shown(after.lostSats, after.replacedSats, packRanges(lostRangesOf(changes)))] : [],
    found: rows.map((row) => shown(row.lost_sats, row.replaced_sats, row.ranges)),
  };
}

/** SQL: the number of sats in the packed ranges of a column (src/kernel/sats/packed-ranges.ts). */
const sizeOfRanges = `(
  SELECT sum((get_byte(ranges, at + 6) >> 3) + (get_byte(ranges, at + 7) << 5)
    + (get_byte(ranges, at + 8) + (get_byte(ranges, at + 9) << 8) + (get_byte(ranges, at + 10) << 16))::bigint * 8192)
  FROM generate_series(0, length(ranges) - ${packedRangeLength}, ${packedRangeLength}) AS at)`;

/**
 * Finds rows that no block made, and checks that every mined sat is in an output, lost or in a replaced output. It is
 * valid only at the tip, because spent outputs have no rows. It is not valid during a first load, because some unspent
 * outputs have no rows then.
 */
export const partitionQuery = `
  SELECT 'chain.sats' AS table, 'key ' || s.key AS row, $1::integer AS height FROM chain.sats s
  WHERE NOT EXISTS (SELECT FROM chain.inscriptions i WHERE i.key = s.key)
  UNION ALL
  SELECT of, 'height ' || r.height, r.height FROM (
    SELECT 'chain.sat_ranges' AS of, height FROM chain.sat_ranges
    UNION SELECT 'chain.rare_sats', height FROM chain.rare_sats
    UNION SELECT 'chain.lost_sats', height FROM chain.lost_sats
    UNION SELECT 'chain.spent_sats', height FROM chain.spent_sats
    UNION SELECT 'chain.recent_sats', height FROM chain.recent_sats
  ) AS r
  WHERE r.height <= $1 AND NOT EXISTS (SELECT FROM chain.blocks b WHERE b.height = r.height)
  UNION ALL
  SELECT 'chain.sat_ranges', 'mined ' || mined || ', in outputs ' || held || ', lost ' || lost || ', replaced ' || replaced, $1
  FROM (
    SELECT
      (SELECT sum((5000000000::bigint >> epoch) * least(210000, $1 + 1 - epoch * 210000))::bigint
        FROM generate_series(0, least(32, $1 / 210000)) AS epoch) AS mined,
      (SELECT coalesce(sum(${sizeOfRanges}), 0)::bigint FROM chain.sat_ranges) AS held,
      coalesce((SELECT lost_sats FROM chain.lost_sats ORDER BY height DESC LIMIT 1), 0) AS lost,
      coalesce((SELECT replaced_sats FROM chain.lost_sats ORDER BY height DESC LIMIT 1), 0) AS replaced
  ) AS total
  WHERE mined <> held + lost + replaced
    AND (SELECT tip_height FROM chain.state) = $1
    AND NOT EXISTS (SELECT FROM chain.recent_sats)
    AND EXISTS (SELECT FROM chain.derived_tables WHERE name = 'sats')`;
