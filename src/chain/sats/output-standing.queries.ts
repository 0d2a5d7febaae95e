import type { ClientBase } from 'pg';
import { indexTipHeight } from '#chain/blocks/index-tip.queries.ts';
import { hasRevealed } from '#chain/inscriptions/reveal.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

/** The state of an output that was in a block, and of transactions that may have spent the output. */
export interface OutputStanding {
  readonly tip: Height | null;
  /**
   * True if the sats of every unspent output are known (INDEX_SATS). False without the index of sats, and during its
   * first load.
   */
  readonly hasSats: boolean;
  /** True if one of the transactions revealed an inscription in a block. */
  readonly isRevealed: boolean;
  /** True if the block that had the output is in the chain. */
  readonly hasBlock: boolean;
  /** The sats of the output. `null` if it is spent, in no block, or unknown. */
  readonly ranges: readonly SatRange[] | null;
  /**
   * True if the output was spent below the newest `deepBlocks` blocks. False if one of these blocks spent it, or if
   * this is unknown.
   */
  readonly isSpentDeep: boolean;
}

/**
 * Number of newest blocks that may still be undone. SATS_KEEP_BLOCKS is never less, so all spends in these blocks are
 * known.
 */
export const deepBlocks = 6;

/** An output that was in a block, and transactions that may have spent it. */
export interface AskedOutput extends Outpoint {
  readonly height: Height;
  /** The hash of that block, in internal order. */
  readonly block: Uint8Array;
  readonly reveals: readonly Txid[];
}

/**
 * Reads the states of outputs, in the order of the request. One statement reads them, so they belong to one moment in
 * any transaction.
 */
export async function outputStandings(
  tx: ClientBase,
  outputs: readonly AskedOutput[],
): Promise<OutputStanding[]> {
  const reveals = outputs.flatMap((output, place) => output.reveals.map((txid) => ({ place, txid })));
  // the database index may be missing, because a first load writes the newest outputs, and the index on them, at its
  // end
  const { rows } = await tx.query<{
    tip: Height | null;
    has_sats: boolean;
    is_revealed: boolean;
    has_block: boolean;
    ranges: Buffer | null;
    is_spent_deep: boolean;
  }>(
    `WITH newest AS (
       SELECT outputs FROM chain.spent_sats WHERE height > ${indexTipHeight} - ${deepBlocks}
     ), known AS (
       SELECT EXISTS (SELECT FROM chain.derived_tables WHERE name = 'sats' AND is_followed)
              AND NOT EXISTS (SELECT FROM chain.recent_sats)
              AND to_regclass('chain.sat_ranges_outpoint') IS NOT NULL AS has_sats)
     SELECT has_sats, ${indexTipHeight} AS tip,
            revealed.is_so AS is_revealed,
            EXISTS (SELECT FROM chain.blocks WHERE height = o.height AND hash = o.block) AS has_block,
            held.ranges,
            -- megabytes of each block are searched: not for what the reveals themselves have spent
            CASE WHEN held.ranges IS NULL AND has_sats AND NOT revealed.is_so
                 THEN (SELECT count(*) FROM newest) = ${deepBlocks}
                      AND NOT EXISTS (SELECT FROM newest WHERE position(o.outpoint in outputs) > 0)
                 ELSE false END AS is_spent_deep
       FROM known CROSS JOIN unnest($1::bytea[], $2::bigint[], $3::integer[], $4::bytea[], $7::bytea[])
                   WITH ORDINALITY AS o (txid, vout, height, block, outpoint, place)
       LEFT JOIN LATERAL (
         SELECT ranges FROM chain.sat_ranges AS s
          WHERE has_sats AND chain.hash64(s.txid, s.vout) = chain.hash64(o.txid, o.vout)
            AND s.txid = o.txid AND s.vout = o.vout) AS held ON true
      CROSS JOIN LATERAL (
         SELECT EXISTS (SELECT FROM unnest($5::integer[], $6::bytea[]) AS r (place, txid)
                         WHERE r.place = o.place AND ${hasRevealed('r.txid')}) AS is_so) AS revealed
      ORDER BY o.place`,
    [
      outputs.map(({ txid }) => Buffer.from(txid)),
      outputs.map(({ vout }) => vout),
      outputs.map(({ height }) => height),
      outputs.map(({ block }) => Buffer.from(block)),
      reveals.map(({ place }) => place + 1),
      reveals.map(({ txid }) => Buffer.from(txid)),
      outputs.map(spentKey),
    ],
  );
  return rows.map((row) => ({
    tip: row.tip,
    hasSats: row.has_sats,
    isRevealed: row.is_revealed,
    hasBlock: row.has_block,
    ranges: row.ranges === null ? null : unpackRanges(row.ranges),
    isSpentDeep: row.is_spent_deep,
  }));
}

/** An outpoint as stored in rows of `chain.spent_sats`: its txid, then its vout in little endian. */
function spentKey({ txid, vout }: Outpoint): Buffer {
  const key = Buffer.alloc(36, txid);
  key.writeUInt32LE(vout, 32);
  return key;
}
