import { strict as assert } from 'node:assert';

/**
 * The lowest height from `low` to `high` that differs, by halving: everything above the first difference differs too,
 * as with cumulative hashes. Null: no height differs. Asks about each height at most once.
 */
export async function firstDifference(
  low: number,
  high: number,
  differs: (height: number) => Promise<boolean>,
): Promise<number | null> {
  assert(low <= high, 'a range has a height at least');
  if (!(await differs(high))) return null;
  // all below `from` are equal, and `to` differs
  let from = low;
  let to = high;
  while (from < to) {
    const middle = Math.floor((from + to) / 2);
    if (await differs(middle)) to = middle;
    else from = middle + 1;
  }
  return to;
}

export interface LineDifference {
  /** Counted from 1. */
  readonly line: number;
  /** Null: the text ends before this line. */
  readonly here: string | null;
  readonly there: string | null;
}

/** The first line in which two texts differ. Null: they are equal. */
export function firstLineDifference(here: string, there: string): LineDifference | null {
  if (here === there) return null;
  const [ours, theirs] = [here.split('\n'), there.split('\n')];
  const last = Math.max(ours.length, theirs.length);
  for (let line = 0; line < last; line++) {
    if (ours[line] !== theirs[line])
      return { line: line + 1, here: ours[line] ?? null, there: theirs[line] ?? null };
  }
  return null;
}
