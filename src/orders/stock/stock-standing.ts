import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { rangesFrom } from '#kernel/satributes/ranges-from.ts';
import type { SatRange } from '#kernel/satributes/satribute.ts';
import { unpackRanges } from '#kernel/sats/packed-ranges.ts';
import type { Reservation } from './reservations.store.ts';

/**
 * Where the sat is that an order has reserved. `here`: unspent, or spent by the order's own reveal. `away`: a
 * reorganisation took its output out of the chain, which may come back, or the index does not know. `gone`: the order
 * cannot have it.
 */
export type StockStanding = 'here' | 'away' | 'gone';

/** What the index says of a reserved output. */
export interface IndexedStock {
  readonly tip: Height | null;
  /**
   * It has the sats of every unspent output (INDEX_SATS): not while they are loaded, nor where that is switched off.
   */
  readonly hasSats: boolean;
  /** A reveal of the order is in a block. */
  readonly isRevealed: boolean;
  /** The block in which the output was reserved is part of the chain. */
  readonly hasBlock: boolean;
  /** Of the output; null: it is spent, or in no block, or not known. */
  readonly ranges: readonly SatRange[] | null;
}

/** Blocks after that of an output within which one that a reorganisation took out is waited for. */
const awayBlocks = 6;

/** Pure. */
export function stockStanding(
  { sat, place, height, isReleased }: Pick<Reservation, 'sat' | 'place' | 'height' | 'isReleased'>,
  { tip, hasSats, isRevealed, hasBlock, ranges }: IndexedStock,
): StockStanding {
  if (isRevealed) return 'here';
  if (isReleased) return 'gone';
  // of nothing that is unknown a customer is paid back
  if (!hasSats) return 'away';
  if (ranges !== null) return rangesFrom(ranges, place, 1)[0]?.start === sat ? 'here' : 'gone';
  // it is still part of the chain, so a stranger to this order spent what it made
  if (hasBlock) return 'gone';
  return tip === null || tip < height + awayBlocks ? 'away' : 'gone';
}

/** What the index says now, in the transaction of the decision. */
export async function indexedStock(
  tx: pg.ClientBase,
  { txid, vout, height, block }: Pick<Reservation, 'txid' | 'vout' | 'height' | 'block'>,
  reveals: readonly Txid[],
): Promise<IndexedStock> {
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
     SELECT has_sats, (SELECT tip_height FROM chain.state) AS tip,
            EXISTS (SELECT FROM chain.inscriptions WHERE txid = ANY($5)) AS is_revealed,
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
