import { readDeepKeys } from './deep-keys.ts';
import type { KeyList, PageSource, Slice } from './key-list.ts';
import {
  type Aggregations,
  cutBy,
  fieldIn,
  filterOf,
  isCut,
  isEmptyWindow,
  type KeyWindow,
  keysEnd,
  type MembersAnswer,
  membersIn,
  touching,
} from './key-window.ts';
import type { Clause } from './text-query.ts';

/** Keys in the order of the list. */
export async function readKeySlice(source: PageSource, list: KeyList, slice: Slice): Promise<number[]> {
  if (slice.limit <= 0 || isEmptyWindow(list.window)) return [];
  if (isFirstSlice(source, slice)) return (await readFirstKeys(source, list, slice, null)).keys;
  return (await readDeepKeys(source, list, slice)).keys;
}

/** Whether the slice comes with one request. */
export const isFirstSlice = ({ tuning: { hitsMax } }: PageSource, { offset, limit }: Slice): boolean =>
  offset + limit <= hitsMax;

/** What the request of a first slice counts beside it. */
export interface Counting {
  /** Of all that is counted; documents of the list satisfy them too. */
  readonly clauses: readonly Clause[];
  readonly aggs: Aggregations;
}

interface FirstAnswer<Counts> {
  readonly hits: { readonly hits: readonly { readonly fields: { readonly keys: readonly number[] } }[] };
  readonly aggregations?: Counts & { readonly split?: { readonly members: MembersAnswer<SplitKeys> } };
}

interface SplitKeys {
  readonly keys: { readonly buckets: readonly { readonly key: { readonly key: number } }[] };
}

/**
 * The first keys of a list, from one request: the keys of the n documents with the least first keys hold the n least keys.
 * Of the few documents that begin before the window the least keys in it are asked one by one. From the other end on it is the
 * same with last keys.
 */
export async function readFirstKeys<Counts>(
  { moment }: PageSource,
  { clauses, window, order }: KeyList,
  { offset, limit }: Slice,
  counting: Counting | null,
): Promise<{ keys: number[]; counts: Counts | undefined }> {
  const end = order === 'asc' ? 'firstKey' : 'lastKey';
  const listed = [...clauses, ...touching(window)];
  const split = splitKeys(window, order, clauses, offset + limit);
  const answer = await moment.search<FirstAnswer<Counts>>(
    {
      size: offset + limit,
      sort: [{ [end]: order }],
      docvalue_fields: ['keys'],
      aggs: { ...counting?.aggs, ...(split === null ? {} : { split }) },
      post_filter: filterOf([...(counting === null ? [] : listed), ...fieldIn(end, window)]),
    },
    counting?.clauses ?? listed,
  );
  const { hits, aggregations } = answer;
  const buckets = aggregations?.split?.members.inside.keys.buckets ?? [];
  const keys = hits.hits
    .flatMap(({ fields }) => fields.keys)
    .filter((key) => key >= window.from && key < window.to)
    .concat(buckets.map(({ key }) => key.key))
    .sort((a, b) => (order === 'asc' ? a - b : b - a));
  return { keys: keys.slice(offset, offset + limit), counts: aggregations };
}

/** The first keys of the documents that the end of the window cuts at which the list begins; null: it cuts none. */
function splitKeys(
  window: KeyWindow,
  order: KeyList['order'],
  clauses: readonly Clause[],
  size: number,
): Clause | null {
  const end = order === 'asc' ? { from: window.from, to: keysEnd } : { from: 0, to: window.to };
  if (!isCut(end)) return null;
  // keeps no more than so many while it looks at them, however many there are
  const composite = { size, sources: [{ key: { terms: { field: 'member.key', order } } }] };
  return {
    filter: filterOf([...clauses, ...touching(window), ...cutBy(end)]),
    aggs: { members: membersIn(window, { keys: { composite } }) },
  };
}
