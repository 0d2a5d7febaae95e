/** How many matching inscriptions have keys from `from` to below `to`. */
export interface KeyRange {
  readonly from: number;
  readonly to: number;
  readonly count: number;
}

/** A part of all keys that holds whole ranges, and how many matching inscriptions lie before it. */
export interface KeyWindow extends KeyRange {
  readonly before: number;
}

/**
 * The least run of ranges that holds the matches of ranks `offset` to below `offset + limit`, as far as there are so many.
 * Ranges ascend and do not overlap; `before` matches lie before the first of them. Null where all lie before `offset`.
 */
export function windowOf(
  ranges: readonly KeyRange[],
  before: number,
  { offset, limit }: { readonly offset: number; readonly limit: number },
): KeyWindow | null {
  let rank = before;
  let window: { from: number; to: number; count: number; before: number } | null = null;
  for (const { from, to, count } of ranges) {
    if (count > 0 && rank + count > offset && rank < offset + limit) {
      window ??= { from, to, count: 0, before: rank };
      window.to = to;
      window.count += count;
    }
    rank += count;
  }
  return window;
}
