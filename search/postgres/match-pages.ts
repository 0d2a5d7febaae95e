import { nextTurn } from '#kernel/concurrency/turns.ts';
import type { SearchPlace, SearchSlice } from '#kernel/contracts/search-engine.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { ContentLengths } from './content-lengths.ts';
import type { KeyColumns } from './key-columns.ts';
import { countOf, countRange, type PartMatches, takeKeys } from './key-matches.ts';
import { pageByLength } from './length-pages.ts';
import type { Matching } from './search-context.ts';

/** The keys of a page of matches, in the requested order. */
export async function pageOfMatches(
  matching: Matching,
  columns: KeyColumns,
  lengths: ContentLengths,
  matches: readonly PartMatches[],
  slice: SearchSlice,
): Promise<InscriptionKey[]> {
  const { sort = 'height', order = 'asc', page, itemsPerPage, after } = slice;
  const offset = (page - 1) * itemsPerPage;
  const isDescending = order === 'desc';
  if (sort === 'length') {
    return pageByLength(columns, lengths, matches, { isDescending, offset, limit: itemsPerPage, after });
  }
  const runs = sort === 'number' ? await numberRuns(columns, matches) : [{ matches, isDescending: false }];
  const places = sort === 'number' ? numberPlaces : keyPlace;
  const passed = after === undefined ? 0 : await places(matching, runs, after, isDescending);
  return takeRuns(isDescending ? reversed(runs) : runs, passed + offset, itemsPerPage);
}

/** Matches that are consecutive in an order, given by their keys. */
interface Run {
  readonly matches: readonly PartMatches[];
  readonly isDescending: boolean;
}

const reversed = (runs: readonly Run[]): Run[] =>
  runs.toReversed().map(({ matches, isDescending }) => ({ matches, isDescending: !isDescending }));

function takeRuns(runs: readonly Run[], offset: number, limit: number): InscriptionKey[] {
  const keys: InscriptionKey[] = [];
  let skip = offset;
  for (const { matches, isDescending } of runs) {
    if (keys.length >= limit) break;
    const count = countOf(matches);
    if (count > skip) keys.push(...takeKeys(matches, isDescending, skip, limit - keys.length));
    skip = Math.max(0, skip - count);
  }
  return keys;
}

/** Maximum number of parts split in one turn of the event loop: a million keys, some 10 ms. */
const partsATurn = 16;

/**
 * Matches in the order of their numbers. With ascending keys, numbers below 0 decrease and all others increase.
 * Inscriptions without a number come last.
 */
async function numberRuns(columns: KeyColumns, matches: readonly PartMatches[]): Promise<Run[]> {
  const cursed: PartMatches[] = [];
  const blessed: PartMatches[] = [];
  const unknown: PartMatches[] = [];
  for (const [place, { part, bits }] of matches.entries()) {
    if (place % partsATurn === partsATurn - 1) await nextTurn();
    const numbers = await columns.numbers(part);
    const at = (set: Uint8Array, index: number): number => set[index]!;
    cursed.push({ part, bits: bits.map((byte, index) => byte & at(numbers.cursed, index)) });
    unknown.push({ part, bits: bits.map((byte, index) => byte & at(numbers.unknown, index)) });
    blessed.push({
      part,
      bits: bits.map((byte, index) => byte & ~(at(numbers.cursed, index) | at(numbers.unknown, index))),
    });
  }
  return [
    { matches: cursed, isDescending: true },
    { matches: blessed, isDescending: false },
    { matches: unknown, isDescending: false },
  ];
}

/** Returns the number of matches before a page that begins after a position. `runs` must be in ascending order. */
type PassedOver = (
  matching: Matching,
  runs: readonly Run[],
  after: SearchPlace,
  isDescending: boolean,
) => Promise<number>;

const keyPlace: PassedOver = (_, runs, { key }, isDescending) => {
  const { matches } = runs[0] as Run;
  return Promise.resolve(isDescending ? countRange(matches, key, Infinity) : countRange(matches, 0, key + 1));
};

const numberPlaces: PassedOver = async ({ client }, runs, { key, number: place }, isDescending) => {
  const [cursed, blessed, unknown] = runs.map(({ matches }) => matches) as [
    readonly PartMatches[],
    readonly PartMatches[],
    readonly PartMatches[],
  ];
  const total = runs.reduce((sum, { matches }) => sum + countOf(matches), 0);
  const passed = (before: number, equal: number): number => (isDescending ? total - before : before + equal);
  if (place === null) {
    const known = countOf(cursed) + countOf(blessed);
    return passed(known + countRange(unknown, 0, key), countRange(unknown, key, key + 1));
  }
  // the position may be in blocks that were taken back, so its number may belong to another inscription now
  const { rows } = await client.query<{ key: InscriptionKey; number: number }>(
    `(SELECT key, number FROM chain.inscriptions WHERE number = $1)
     UNION ALL
     (SELECT key, number FROM chain.inscriptions WHERE number < $1 ORDER BY number DESC LIMIT 1)`,
    [place],
  );
  const below = rows.find((row) => row.number < place);
  const holder = rows.find((row) => row.number === place)?.key;
  const matches = place < 0 ? cursed : blessed;
  let before = place < 0 ? 0 : countOf(cursed);
  if (below !== undefined && below.number < 0 === place < 0) {
    before += place < 0 ? countRange(matches, below.key, Infinity) : countRange(matches, 0, below.key + 1);
  }
  const isMatch = holder === undefined ? 0 : countRange(matches, holder, holder + 1);
  if (holder !== undefined && holder < key) before += isMatch;
  return passed(before, holder === key ? isMatch : 0);
};
