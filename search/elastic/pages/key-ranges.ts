/** How many matching inscriptions have keys from `from` to below `to`. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** A range, and how many matching inscriptions lie before it. */
export interface PlacedRange extends KeyRange {
  readonly before: number;
}

/**
 * The range that holds the match of a rank (from 0 on, over all), where `before` matches lie before the first range. Ranges
 * ascend and do not overlap. Null where there are no more than `rank` matches.
 */
export function rangeAt(ranges: readonly KeyRange[], before: number, rank: number): PlacedRange | null {
  let passed = before;
  for (const range of ranges) {
    if (rank < passed + range.count) return { ...range, before: passed };
    passed += range.count;
  }
  return null;
}
