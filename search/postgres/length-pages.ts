import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { SearchPlace } from '#kernel/contracts/search-engine.ts';
import { type InscriptionKey, trustedInscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { ContentLengths } from './content-lengths.ts';
import { eachBit } from './id-set.ts';
import type { KeyColumns } from './key-columns.ts';
import type { PartMatches } from './key-matches.ts';

export interface LengthSlice {
  readonly isDescending: boolean;
  readonly offset: number;
  readonly limit: number;
  readonly after: SearchPlace | undefined;
}

/** Maximum number of parts visited in one turn of the event loop: half a million keys. */
const partsATurn = 8;

/**
 * A page of matches by length. First counts matches by length, then collects the page, so every page takes two passes
 * over the matches. Memory: 4 bytes for each length that occurs, and the page.
 */
export async function pageByLength(
  columns: KeyColumns,
  lengths: ContentLengths,
  matches: readonly PartMatches[],
  slice: LengthSlice,
): Promise<InscriptionKey[]> {
  const lengthOf = await lengths.lookUp();
  const { after, isDescending } = slice;
  const counts = new Map<number, number>();
  let total = 0;
  let passed = 0;
  await eachLength(columns, lengthOf, matches, (key, length) => {
    counts.set(length, (counts.get(length) ?? 0) + 1);
    total++;
    if (after === undefined) return;
    const side = length - after.length || key - after.key;
    if (isDescending ? side >= 0 : side <= 0) passed++;
  });
  // in ascending order the page has the positions from `first` to below `next`
  const from = passed + slice.offset;
  const to = Math.min(total, from + slice.limit);
  if (from >= to) return [];
  const [first, next] = isDescending ? [total - to, total - from] : [from, to];
  const starts = new Map<number, number>();
  let place = 0;
  for (const length of [...counts.keys()].toSorted((a, b) => a - b)) {
    const count = counts.get(length) as number;
    // only the lengths of the page, with the next position of each
    if (place < next && place + count > first) starts.set(length, place);
    place += count;
  }
  const page: InscriptionKey[] = [];
  await eachLength(columns, lengthOf, matches, (key, length) => {
    const at = starts.get(length);
    if (at === undefined) return;
    starts.set(length, at + 1);
    if (at >= first && at < next) page[at - first] = key;
  });
  return isDescending ? page.reverse() : page;
}

/** Visits all matches in the order of their keys. */
async function eachLength(
  columns: KeyColumns,
  lengthOf: (contentId: number) => number,
  matches: readonly PartMatches[],
  each: (key: InscriptionKey, length: number) => void,
): Promise<void> {
  for (const [at, { part, bits }] of matches.entries()) {
    const { ids } = await columns.ids(part, 'content');
    eachBit(bits, (index) => {
      each(trustedInscriptionKey(part.firstKey + index), lengthOf(ids[index]!));
    });
    if (at % partsATurn === partsATurn - 1) await nextTurn();
  }
}
