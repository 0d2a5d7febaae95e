import { daySeconds } from '#kernel/primitives/day.ts';
import { placeAt, type SalePlace, type SoldInBlock, salesIn } from './sale-places.ts';

/** An end of a range: a height, or the first second (Unix) of a day. */
export type RangeEnd = { readonly height: number } | { readonly dayStart: number };

/** A range of blocks. Both ends are included. An end that is null is not a limit. */
export interface SaleRange {
  readonly from: RangeEnd | null;
  readonly to: RangeEnd | null;
}

/** Whether a block is within a range. Block times go backwards by hours, so each block's own time decides its day. */
function isWithin({ height, time }: SoldInBlock, { from, to }: SaleRange): boolean {
  if (from !== null && ('height' in from ? height < from.height : time < from.dayStart)) return false;
  return to === null || ('height' in to ? height <= to.height : time < to.dayStart + daySeconds);
}

/**
 * The sales of a range in chain order, in parts of at most `count`. `blocks` must be sorted by ascending height.
 *
 * @param after the sale after which to begin, or null to begin with the first sale
 */
export function* salesOfRange(
  blocks: readonly SoldInBlock[],
  range: SaleRange,
  after: SalePlace | null,
  count: number,
): Generator<SalePlace[]> {
  let part: SalePlace[] = [];
  for (const block of blocks) {
    if (block.height < (after?.height ?? 0) || !isWithin(block, range)) continue;
    for (let at = 0; at < salesIn(block); at++) {
      const place = placeAt(block, at);
      if (after !== null && !isBehind(place, after)) continue;
      part.push(place);
      if (part.length < count) continue;
      yield part;
      part = [];
    }
  }
  if (part.length > 0) yield part;
}

function isBehind(one: SalePlace, other: SalePlace): boolean {
  if (one.height !== other.height) return one.height > other.height;
  if (one.txIndex !== other.txIndex) return one.txIndex > other.txIndex;
  return one.input === other.input ? one.place > other.place : one.input > other.input;
}
