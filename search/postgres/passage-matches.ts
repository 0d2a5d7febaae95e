import { type Passages, readPassages } from '#search/segments/passages.ts';
import { type Candidates, segmentsAtOnce } from './candidates.ts';
import { countBits, intersect } from './id-set.ts';
import type { Matching } from './search-context.ts';

/**
 * Narrows segments with many candidates by their passages. Returns the segments whose candidates contain all needles of
 * more than three code points, so that their texts need not be read.
 */
export async function narrowByPassages(
  { client, cache, tuning }: Matching,
  open: readonly Candidates[],
  needles: readonly Buffer[],
): Promise<ReadonlySet<Candidates>> {
  const exact = new Set<Candidates>();
  const many = open.filter(({ count }) => count > tuning.passagesAbove);
  if (needles.length === 0) return exact;
  for (let from = 0; from < many.length; from += segmentsAtOnce) {
    const some = many.slice(from, from + segmentsAtOnce);
    const passages = await readPassages(
      client,
      cache,
      some.map(({ segment }) => segment.segmentId),
    );
    for (const candidates of some) {
      const own = passages.get(candidates.segment.segmentId) ?? null;
      if (own !== null && keepWith(candidates, own, needles)) exact.add(candidates);
    }
  }
  return exact;
}

/** Returns whether the remaining texts contain all needles. */
function keepWith(candidates: Candidates, passages: Passages, needles: readonly Buffer[]): boolean {
  const { bits } = candidates;
  let isExact = true;
  for (const needle of needles) {
    const question = passages.questionOf(needle);
    isExact &&= question.isExact;
    for (const part of question.parts) {
      const matches = new Uint8Array(bits.length);
      passages.addTexts(part, matches);
      intersect(bits, matches);
    }
  }
  candidates.count = countBits(bits);
  return isExact;
}
