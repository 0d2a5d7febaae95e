import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { allOf, type Clause } from '#search/elastic/server/clause.ts';
import { readDeepKeys } from './deep-keys.ts';
import type { KeyList, PageSource, Slice } from './key-list.ts';
import {
  type CountAnswer,
  countIn,
  countOf,
  cutBy,
  fieldIn,
  isCut,
  isEmptyWindow,
  type KeyWindow,
  keysEnd,
  type MembersAnswer,
  membersIn,
  touching,
} from './key-window.ts';

/** Keys of a slice, in the order of the list. */
export async function readKeySlice(
  source: PageSource,
  list: KeyList,
  slice: Slice,
): Promise<InscriptionKey[]> {
  if (slice.limit <= 0 || isEmptyWindow(list.window)) return [];
  if (isFirstSlice(source, slice)) return (await readFirstKeys(source, list, slice)).keys;
  return (await readDeepKeys(source, list, slice)).keys;
}

/** Whether one request can answer the slice. */
export const isFirstSlice = ({ tuning: { hitsMax } }: PageSource, { offset, limit }: Slice): boolean =>
  offset + limit <= hitsMax;

interface FirstAnswer {
  readonly hits: {
    readonly hits: readonly { readonly fields: { readonly keys: readonly InscriptionKey[] } }[];
  };
  readonly aggregations?: CountAnswer & { readonly split?: { readonly members: MembersAnswer<SplitKeys> } };
}

interface SplitKeys {
  readonly keys: { readonly buckets: readonly { readonly key: { readonly key: InscriptionKey } }[] };
}

/**
 * The first keys of a list in one request. This works because the n documents with the smallest first keys contain the
 * n smallest keys. Few documents begin before the window; their smallest keys inside the window are requested one by
 * one. A descending list uses last keys in the same manner. `count` is the length of the list if the request read it to
 * its end or counted it, else null.
 *
 * Without `isCounted`, the request counts nothing else. The index is sorted by first keys, so a server that only needs
 * the first documents stops early. For last keys, and for a window that cuts documents, the server reads all documents.
 *
 * @param isCounted whether the request also counts the list. The window must cut no document.
 */
export async function readFirstKeys(
  { moment }: PageSource,
  { clauses, window, order }: KeyList,
  { offset, limit }: Slice,
  isCounted = false,
): Promise<{ keys: InscriptionKey[]; count: number | null }> {
  const end = order === 'asc' ? 'firstKey' : 'lastKey';
  const listed = [...clauses, ...touching(window)];
  const begun = fieldIn(end, window);
  const size = offset + limit;
  const split = splitKeys(window, order, size);
  const { hits, aggregations } = await moment.search<FirstAnswer>(
    {
      size,
      sort: [{ [end]: order }],
      docvalue_fields: ['keys'],
      ...(isCounted ? { aggs: countIn(window) } : {}),
      ...(split === null ? {} : { aggs: { split }, post_filter: allOf(begun) }),
    },
    split === null ? [...listed, ...begun] : listed,
  );
  const buckets = aggregations?.split?.members.inside.keys.buckets ?? [];
  const keys = hits.hits
    .flatMap(({ fields }) => fields.keys)
    .filter((key) => key >= window.from && key < window.to)
    .concat(buckets.map(({ key }) => key.key))
    .sort((a, b) => (order === 'asc' ? a - b : b - a));
  const isWhole = hits.hits.length < size && buckets.length < size;
  const counted = isCounted ? countOf(aggregations) : null;
  return { keys: keys.slice(offset, size), count: isWhole ? keys.length : counted };
}

/** The first keys of the documents that the beginning of the window cuts. Null: the window cuts no document. */
function splitKeys(window: KeyWindow, order: KeyList['order'], size: number): Clause | null {
  const end = order === 'asc' ? { from: window.from, to: keysEnd } : { from: 0, to: window.to };
  if (!isCut(end)) return null;
  // keep no more keys than the slice needs, however many documents there are
  const composite = { size, sources: [{ key: { terms: { field: 'member.key', order } } }] };
  return {
    filter: allOf(cutBy(end)),
    aggs: { members: membersIn(window, { keys: { composite } }) },
  };
}
