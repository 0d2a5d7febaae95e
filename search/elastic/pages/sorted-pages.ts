import type { SearchSlice } from '#kernel/contracts/search-engine.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import type { WithinPhrases } from '#search/elastic/queries/text-query.ts';
import { allOf, type Clause } from '#search/elastic/server/clause.ts';
import { readDeepKeys } from './deep-keys.ts';
import type { PageSource, Slice } from './key-list.ts';
import { isFirstSlice, readFirstKeys, readKeySlice } from './key-pages.ts';
import {
  type CountAnswer,
  countIn,
  countOf,
  isCut,
  isEmptyWindow,
  type KeyWindow,
  touching,
} from './key-window.ts';
import { readSizeSlice } from './size-pages.ts';
import { type SortedList, sortedLists } from './sorted-lists.ts';

export interface MatchingPage {
  readonly keys: readonly InscriptionKey[];
  readonly totalItems: number;
}

/** A search: documents that match all clauses, and their inscriptions inside the window. */
export interface Matching {
  readonly clauses: readonly Clause[];
  readonly window: KeyWindow;
  /** Matches known from phrases. Null: the number of matches must be counted. */
  readonly within: WithinPhrases | null;
  /** Whether there are probably few matches. */
  readonly isRare: boolean;
}

/**
 * A page of the matches in the requested order, and their total. A short list is read whole; for a long list the sums
 * over documents give the total.
 */
export async function readPage(
  source: PageSource,
  matching: Matching,
  asked: SearchSlice,
): Promise<MatchingPage> {
  const { clauses, window } = matching;
  if (isEmptyWindow(window)) return { keys: [], totalItems: 0 };
  const slice = { offset: (asked.page - 1) * asked.itemsPerPage, limit: asked.itemsPerPage };
  const lists = sortedLists(asked, window).map((list) => ({
    ...list,
    clauses: [...clauses, ...list.clauses],
  }));
  const [only] = lists;
  if (only !== undefined && lists.length === 1 && only.by === 'key') {
    const isWhole = asked.after === undefined;
    if (isFirstSlice(source, slice)) return readFirstPage(source, matching, only, { ...slice, isWhole });
    if (isWhole) {
      const { keys, count } = await readDeepKeys(source, only, slice);
      return { keys, totalItems: count };
    }
  }
  const { total, counts } = await countLists(source, matching, lists);
  const parts = partsOf(slice, counts);
  const keys = await Promise.all(lists.map((list, at) => readList(source, list, parts[at])));
  return { keys: keys.flat(), totalItems: total };
}

/** A page of the first matches, and the total. `isWhole`: the list has all matches, so its length is the total. */
async function readFirstPage(
  source: PageSource,
  matching: Matching,
  list: SortedList,
  { isWhole, ...slice }: Slice & { readonly isWhole: boolean },
): Promise<MatchingPage> {
  const near = isWhole ? nearWindow(source, matching, list, slice) : null;
  if (near !== null) return readNearPage(source, matching, { list, near }, slice);
  // a request for few matches reads all of them in any case, so it can also count them
  const isCounted = isWhole && matching.isRare && !isCut(matching.window);
  const { keys, count } = await readFirstKeys(source, list, slice, isCounted);
  return { keys, totalItems: isWhole && count !== null ? count : await countAll(source, matching) };
}

/** Number of times the keys that evenly spread matches would take. A first page is searched among that many keys. */
const nearFactor = 4;

/**
 * The keys that probably contain a first page, if there are very many matches. A server that is restricted to the
 * beginning of an index reads nothing else. Null: there may be fewer matches.
 */
function nearWindow(
  source: PageSource,
  { within }: Matching,
  { order }: SortedList,
  slice: Slice,
): KeyWindow | null {
  if (within === null || within.inscriptions === 0 || order !== 'asc') return null;
  const { nextKey } = source.moment.marker;
  const perMatch = nextKey / within.inscriptions;
  const to = Math.ceil((slice.offset + slice.limit) * perMatch * nearFactor);
  return to * nearFactor < nextKey ? { from: 0, to } : null;
}

/**
 * Reads the page and the total at the same time. If the near keys have less than a page, the page is read from all
 * keys.
 */
async function readNearPage(
  source: PageSource,
  matching: Matching,
  { list, near }: { readonly list: SortedList; readonly near: KeyWindow },
  slice: Slice,
): Promise<MatchingPage> {
  const [{ keys }, totalItems] = await Promise.all([
    readFirstKeys(source, { ...list, window: near }, slice),
    countAll(source, matching),
  ]);
  if (keys.length === slice.limit) return { keys, totalItems };
  return { keys: (await readFirstKeys(source, list, slice)).keys, totalItems };
}

/**
 * Counts all matches. The server caches this answer until something new becomes visible, so other pages of the search
 * have it at once.
 */
async function countAll({ moment }: PageSource, { clauses, window, within }: Matching): Promise<number> {
  const counted = within === null ? [...clauses, ...touching(window)] : [within.others];
  const { aggregations } = await moment.search<{ aggregations: CountAnswer }>(
    { size: 0, aggs: countIn(window) },
    counted,
  );
  return (within?.inscriptions ?? 0) + countOf(aggregations);
}

const readList = (
  source: PageSource,
  list: SortedList,
  slice: Slice | undefined,
): Promise<InscriptionKey[]> => {
  if (slice === undefined) return Promise.resolve([]);
  return list.by === 'key' ? readKeySlice(source, list, slice) : readSizeSlice(source, list, slice);
};

/** The part of a slice that falls into each of several consecutive lists. Undefined: no part. */
function partsOf({ offset, limit }: Slice, counts: readonly number[]): (Slice | undefined)[] {
  let before = 0;
  return counts.map((count) => {
    const from = Math.max(0, offset - before);
    const to = Math.min(count, offset + limit - before);
    before += count;
    return from < to ? { offset: from, limit: to - from } : undefined;
  });
}

async function countLists(
  { moment }: PageSource,
  { clauses, window }: Matching,
  lists: readonly SortedList[],
): Promise<{ total: number; counts: number[] }> {
  const { aggregations } = await moment.search<{ aggregations: Readonly<Record<string, CountAnswer>> }>(
    {
      size: 0,
      aggs: Object.fromEntries(
        [{ clauses: [], window }, ...lists].map((list, at) => [
          `list${at}`,
          {
            filter: allOf([...list.clauses, ...touching(list.window)]),
            aggs: isEmptyWindow(list.window) ? {} : countIn(list.window),
          },
        ]),
      ),
    },
    [...clauses, ...touching(window)],
  );
  const [total = 0, ...counts] = [{}, ...lists].map((_, at) => countOf(aggregations[`list${at}`]));
  return { total, counts };
}
