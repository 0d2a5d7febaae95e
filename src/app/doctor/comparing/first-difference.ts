import { strict as assert } from 'node:assert';

/**
 * Finds the lowest height from `low` to `high` that differs, by bisection. The hashes must be cumulative, so that every
 * height above the first difference differs too. Returns `null` if no height differs. Compares each height at most
 * once.
 */
export async function firstDifference(
  low: number,
  high: number,
  differs: (height: number) => Promise<boolean>,
): Promise<number | null> {
  assert(low <= high, 'a range has a height at least');
  if (!(await differs(high))) return null;
  // all heights below `from` are equal, and `to` differs
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
  /** Number of the line, counted from 1. */
  readonly line: number;
  /** The line here. `null` if the text ends before this line. */
  readonly here: string | null;
  readonly there: string | null;
}

/** Finds the first line in which two texts differ. Returns `null` if the texts are equal. */
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
