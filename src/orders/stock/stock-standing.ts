import type pg from 'pg';
import { knowsSatRanges } from '#chain/sats/known-ranges.queries.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
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
  /** It has the sats of every unspent output (INDEX_SATS): not while they are loaded, nor where that is switched off. */
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
  if (ranges !== null) return satAt(ranges, place) === sat ? 'here' : 'gone';
  // it is still part of the chain, so a stranger to this order spent what it made
  if (hasBlock) return 'gone';
  return tip === null || tip < height + awayBlocks ? 'away' : 'gone';
}

function satAt(ranges: readonly SatRange[], place: number): number | null {
  let before = 0;
  for (const { start, end } of ranges) {
    if (place < before + end - start) return start + place - before;
    before += end - start;
  }
  return null;
}

/** What the index says now, in the transaction of the decision. */
export async function indexedStock(
  tx: pg.ClientBase,
  { txid, vout, height, block }: Pick<Reservation, 'txid' | 'vout' | 'height' | 'block'>,
  reveals: readonly Txid[],
): Promise<IndexedStock> {
  const hasSats = await knowsSatRanges(tx);
  const { rows } = await tx.query<{
    tip: Height | null;
    is_revealed: boolean;
    has_block: boolean;
    ranges: Buffer | null;
  }>(
    `SELECT (SELECT tip_height FROM chain.state) AS tip,
            EXISTS (SELECT FROM chain.inscriptions WHERE txid = ANY($5)) AS is_revealed,
            EXISTS (SELECT FROM chain.blocks WHERE height = $3 AND hash = $4) AS has_block,
            (SELECT ranges FROM chain.sat_ranges
              WHERE $6 AND chain.hash64(txid, vout) = chain.hash64($1, $2) AND txid = $1 AND vout = $2) AS ranges`,
    [Buffer.from(txid), vout, height, block, reveals.map((reveal) => Buffer.from(reveal)), hasSats],
  );
  const [row] = rows;
  return {
    tip: row?.tip ?? null,
    hasSats,
    isRevealed: row?.is_revealed ?? false,
    hasBlock: row?.has_block ?? false,
    ranges: row?.ranges == null ? null : unpackRanges(row.ranges),
  };
}
