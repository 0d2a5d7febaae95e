import type { ClientBase } from 'pg';
import { isComplete } from '#chain/derived/derived-tables.queries.ts';
import { knowsSatRanges } from '#chain/derived/known-ranges.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { rowsInTurns } from '#chain/snapshot/rows-in-turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { packedRangeLength, unpackRanges } from '#kernel/sats/packed-ranges.ts';
import { type SatRange, satsIn } from '#kernel/sats/sat-range.ts';

/** Whether this server has a complete index of sats, which contains every indexed block. */
export async function hasSatIndex(client: ClientBase): Promise<boolean> {
  return isComplete(client, 'sats');
}

/**
 * Maximum number of ranges in one response. They are 17 MB of JSON. An output of mainnet has at most tens of thousands.
 */
export const rangesMax = 500_000;

function requireFew(bytes: number, most = rangesMax): void {
  if (bytes <= most * packedRangeLength) return;
  throw new AppError('request_invalid', 'the answer would be too large; request fewer outputs');
}

/** The ranges of some outputs. */
export interface SatRangesOfOutputs {
  /**
   * Ranges of an unspent output of the chain. Empty if the output has no value. `null` if this server has no complete
   * index of sats.
   */
  of(outpoint: Outpoint): readonly SatRange[] | null;
}

const nameOf = ({ txid, vout }: Outpoint): string => `${Buffer.from(txid).toString('latin1')}${vout}`;

/**
 * Reads ranges. Makes two or three reads for any number of outputs, so run it in a snapshot. Throws `request_invalid`
 * if the outputs have too many ranges.
 *
 * @param most maximum number of ranges; it is less than `rangesMax` if the response already has other ranges
 */
export async function satRangesOf(
  client: ClientBase,
  outpoints: readonly Outpoint[],
  most = rangesMax,
): Promise<SatRangesOfOutputs> {
  if (!(await knowsSatRanges(client))) return { of: () => null };
  if (outpoints.length === 0) return { of: () => [] };
  const asked = [
    outpoints.map(({ txid }) => Buffer.from(txid)),
    outpoints.map(({ vout }) => vout),
    most * packedRangeLength,
  ];
  const { rows } = await client.query<{ txid: Txid; vout: number; ranges: Buffer | null; total: number }>(
    `SELECT txid, vout, CASE WHEN total <= $3 THEN ranges END AS ranges, total FROM (
       SELECT r.txid, asked.vout, r.ranges, sum(length(r.ranges)) OVER ()::bigint AS total
       FROM (SELECT DISTINCT txid, vout FROM unnest($1::bytea[], $2::bigint[]) AS given(txid, vout)) AS asked
       JOIN chain.sat_ranges r ON chain.hash64(r.txid, r.vout) = chain.hash64(asked.txid, asked.vout)
         AND r.txid = asked.txid AND r.vout = asked.vout
     ) AS found`,
    asked,
  );
  requireFew(rows[0]?.total ?? 0, most);
  const ranges = new Map(
    rows.map(({ ranges: packed, ...outpoint }) => [
      nameOf(outpoint),
      unpackRanges(packed ?? Buffer.alloc(0)),
    ]),
  );
  return { of: (outpoint) => ranges.get(nameOf(outpoint)) ?? [] };
}

/**
 * The ranges of an output of a block. They depend only on that block, not on the tip. `null` if this server has no
 * index of sats or lacks this block, or if the output is spent at the tip. Must run in a snapshot.
 */
export async function satRangesInBlock(
  client: ClientBase,
  outpoint: Outpoint,
  value: number,
  block: { readonly height: Height; readonly hash: BlockHash },
): Promise<readonly SatRange[] | null> {
  if (!(await knowsSatRanges(client))) return null;
  const { rows } = await client.query<{ ranges: Buffer | null }>(
    `SELECT r.ranges FROM chain.blocks b
     LEFT JOIN chain.sat_ranges r ON chain.hash64(r.txid, r.vout) = chain.hash64($1, $2) AND r.txid = $1 AND r.vout = $2
     WHERE b.height = $3 AND b.hash = $4`,
    [Buffer.from(outpoint.txid), outpoint.vout, block.height, Buffer.from(block.hash)],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const ranges = unpackRanges(row.ranges ?? Buffer.alloc(0));
  return satsIn(ranges) === value ? ranges : null;
}

/**
 * The lost sats, in the order in which they were lost. Rows are read in parts, with other work in between. `null` if
 * this server has no index of sats.
 */
export async function lostSats(client: ClientBase): Promise<readonly SatRange[] | null> {
  if (!(await hasSatIndex(client))) return null;
  const { rows } = await client.query<{ bytes: number }>(
    'SELECT coalesce(sum(length(ranges)), 0) AS bytes FROM chain.lost_sats',
  );
  requireFew(rows[0]?.bytes ?? 0);
  const lost: SatRange[] = [];
  const parts = rowsInTurns<{ ranges: Buffer }>(
    client,
    'SELECT ranges FROM chain.lost_sats ORDER BY height',
    [],
  );
  for await (const part of parts)
    for (const { ranges } of part) for (const range of unpackRanges(ranges)) lost.push(range);
  return lost;
}
