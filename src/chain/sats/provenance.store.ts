import type pg from 'pg';
import { displayHash, parseBlockHash, parseTxid, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import {
  type FoundProvenance,
  type FoundSats,
  type MadeOutputSats,
  madeOutputName,
  settledBlocks,
} from '#kernel/satributes/provenance.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import { packedRangeLength, packRange, unpackRanges } from '#kernel/sats/packed-ranges.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

/** Maximum number of ranges in memory, over all outputs that define satributes. They need 32 MB. */
const rangesMax = 500_000;
/**
 * How long to wait before a failed trace is tried again, in minutes. Meanwhile the node may get missing blocks, or an
 * operator may set another node.
 */
const againMinutes = 10;

/** The outputs as columns, for `unnest`. */
const columnsOf = (outputs: readonly MadeOutput[]): unknown[] => [
  outputs.map(({ txid }) => parseTxid(txid)),
  outputs.map(({ vout }) => vout),
  outputs.map(({ height }) => height),
];

/** A text that changes whenever rows are added or deleted. */
export async function provenanceStamp(db: pg.Pool): Promise<string> {
  const { rows } = await db.query<{ stamp: string }>(
    `SELECT concat_ws(' ', count(*), count(ranges), sum(length(ranges)), max(traced_at)) AS stamp
     FROM chain.provenance`,
  );
  return rows[0]?.stamp ?? '';
}

/** The stored results of some outputs. Outputs that were not traced are absent. */
export async function readProvenance(db: pg.Pool, outputs: readonly MadeOutput[]): Promise<FoundProvenance> {
  const { rows } = await db.query<{
    txid: Txid;
    vout: number;
    height: Height;
    ranges: Buffer | null;
    problem: string | null;
  }>(
    `SELECT txid, vout, height, CASE WHEN total <= $4 THEN ranges END AS ranges, problem FROM (
       SELECT p.*, sum(length(p.ranges)) OVER (ORDER BY p.txid, p.vout, p.height)::bigint AS total
       FROM (SELECT DISTINCT * FROM unnest($1::bytea[], $2::integer[], $3::integer[]) AS given(txid, vout, height)) AS wanted
       JOIN chain.provenance AS p USING (txid, vout, height)
     ) AS found`,
    [...columnsOf(outputs), rangesMax * packedRangeLength],
  );
  return new Map(
    rows.map(({ txid, vout, height, ranges, problem }): [string, FoundSats] => [
      madeOutputName({ txid: displayHash(txid), vout, height }),
      ranges === null ? { problem: problem ?? tooMany } : { ranges: unpackRanges(ranges) },
    ]),
  );
}

const tooMany = `with the outputs before it, it has more than ${rangesMax} ranges of sats`;

/**
 * The outputs to trace now. They must be deep enough in the index. They were not traced yet, or their trace failed some
 * time ago.
 */
export async function outputsToTrace(
  client: pg.ClientBase,
  outputs: readonly MadeOutput[],
): Promise<MadeOutput[]> {
  const { rows } = await client.query<{ place: number }>(
    `SELECT place::integer FROM unnest($1::bytea[], $2::integer[], $3::integer[]) WITH ORDINALITY
       AS wanted(txid, vout, height, place)
     WHERE height + $4::integer <= (SELECT tip_height FROM chain.state) AND NOT EXISTS (
       SELECT FROM chain.provenance AS p
       WHERE p.txid = wanted.txid AND p.vout = wanted.vout AND p.height = wanted.height
         AND (p.problem IS NULL OR p.traced_at > now() - make_interval(mins => $5)))
     ORDER BY place`,
    [...columnsOf(outputs), settledBlocks, againMinutes],
  );
  return rows.flatMap(({ place }) => outputs[place - 1] ?? []);
}

/**
 * Stores the trace result of an output. Stores nothing if the index has another block at its height, or no longer
 * enough blocks above it. An undo deletes the rows of the blocks that it undoes, and waits for this statement. Returns
 * false if nothing was stored.
 */
export async function putProvenance(
  client: pg.ClientBase,
  { txid, vout, height }: MadeOutput,
  found: MadeOutputSats,
): Promise<boolean> {
  const isFound = found.kind === 'found';
  const { rowCount } = await client.query(
    `INSERT INTO chain.provenance (txid, vout, height, block_hash, ranges, problem, traced_at)
     SELECT $1, $2, $3::integer, $4, $5, $6, clock_timestamp() FROM chain.state AS s
     WHERE s.tip_height >= $3::integer + $7::integer
       AND NOT EXISTS (SELECT FROM chain.blocks AS b WHERE b.height = $3 AND b.hash <> $4)
     FOR SHARE OF s
     ON CONFLICT (txid, vout, height) DO UPDATE SET block_hash = excluded.block_hash, ranges = excluded.ranges,
       problem = excluded.problem, traced_at = excluded.traced_at`,
    [
      parseTxid(txid),
      vout,
      height,
      isFound ? parseBlockHash(found.blockHash) : null,
      isFound ? packed(found.ranges) : null,
      isFound ? null : found.reason,
      settledBlocks,
    ],
  );
  return rowCount === 1;
}

function packed(ranges: readonly SatRange[]): Uint8Array {
  const bytes = new Uint8Array(ranges.length * packedRangeLength);
  for (const [place, { start, end }] of ranges.entries())
    packRange(bytes, place * packedRangeLength, start, end);
  return bytes;
}
