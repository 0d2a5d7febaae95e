/** The number of matching inscriptions with keys from `from` to below `to`. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** A range, and the number of matches before it. */
export interface PlacedRange extends KeyRange {
  readonly before: number;
}

/**
 * The range that contains the match of a rank (the first rank is 0), if `before` matches precede the first range.
 * Ranges ascend and do not overlap. Null: there are at most `rank` matches.
 */
export function rangeAt(ranges: readonly KeyRange[], before: number, rank: number): PlacedRange | null {
  let passed = before;
  for (const range of ranges) {
    if (rank < passed + range.count) return { ...range, before: passed };
    passed += range.count;
  }
  return null;
}
