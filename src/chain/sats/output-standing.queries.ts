import type { ClientBase } from 'pg';
import { indexTipHeight } from '#chain/blocks/index-tip.queries.ts';
import { hasRevealed } from '#chain/inscriptions/reveal.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';

/** The state of an output that a block had, and of transactions that may have spent it. */
export interface OutputStanding {
  readonly tip: Height | null;
  /** The sats of every unspent output are known (INDEX_SATS): not during their first load, nor without that index. */
  readonly hasSats: boolean;
  /** One of the transactions revealed an inscription in a block. */
  readonly isRevealed: boolean;
  /** The block that had the output is part of the chain. */
  readonly hasBlock: boolean;
  /** The sats of the output; null: it is spent, or in no block, or unknown. */
  readonly ranges: readonly SatRange[] | null;
}

/** Reads all of it in one statement, so that it is of one moment in any transaction. */
export async function outputStanding(
  tx: ClientBase,
  { txid, vout, height, block }: Outpoint & { readonly height: Height; readonly block: Uint8Array },
  reveals: readonly Txid[],
): Promise<OutputStanding> {
  // a first load with the index of sats writes the newest outputs and their index at its end
  const { rows } = await tx.query<{
    tip: Height | null;
    has_sats: boolean;
    is_revealed: boolean;
    has_block: boolean;
    ranges: Buffer | null;
  }>(
    `WITH known AS (
       SELECT EXISTS (SELECT FROM chain.derived_tables WHERE name = 'sats' AND is_followed)
              AND NOT EXISTS (SELECT FROM chain.recent_sats)
              AND to_regclass('chain.sat_ranges_outpoint') IS NOT NULL AS has_sats)
     SELECT has_sats, ${indexTipHeight} AS tip, ${hasRevealed('ANY($5)')} AS is_revealed,
            EXISTS (SELECT FROM chain.blocks WHERE height = $3 AND hash = $4) AS has_block,
            (SELECT ranges FROM chain.sat_ranges
              WHERE has_sats AND chain.hash64(txid, vout) = chain.hash64($1, $2) AND txid = $1 AND vout = $2) AS ranges
       FROM known`,
    [Buffer.from(txid), vout, height, block, reveals.map((reveal) => Buffer.from(reveal))],
  );
  const [row] = rows;
  return {
    tip: row?.tip ?? null,
    hasSats: row?.has_sats ?? false,
    isRevealed: row?.is_revealed ?? false,
    hasBlock: row?.has_block ?? false,
    ranges: row?.ranges == null ? null : unpackRanges(row.ranges),
  };
}
