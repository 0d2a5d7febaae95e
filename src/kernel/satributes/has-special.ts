import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { SatRange } from '#kernel/sats/sat-range.ts';
import { countWithin } from './rule-ranges.ts';
import type { Satribute } from './satribute.ts';

/**
 * Maximum number of ranges of sats that are compared with all satributes in one turn of the event loop. They take a few
 * milliseconds.
 */
const rangesInTurn = 200;

/** Whether some of these sats have one of these satributes. The comparison takes turns of the event loop. */
export async function hasSpecial(
  ranges: readonly SatRange[],
  satributes: readonly Satribute[],
): Promise<boolean> {
  for (const [place, each] of ranges.entries()) {
    if (satributes.some(({ rule }) => countWithin(rule, each) > 0)) return true;
    if (place % rangesInTurn === rangesInTurn - 1) await nextTurn();
  }
  return false;
}
