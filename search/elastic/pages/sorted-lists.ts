import type { SearchPlace, SearchSlice, SearchSort } from '#kernel/contracts/search-engine.ts';
import type { Clause } from '#search/elastic/server/clause.ts';
import type { KeyList } from './key-list.ts';
import { type KeyWindow, keysEnd, overlapOf } from './key-window.ts';

/** Matches that follow each other by key, or by the length of their bodies. */
export interface SortedList extends KeyList {
  readonly by: 'key' | 'size';
}

type Order = KeyList['order'];
type Sorted = Pick<SearchSlice, 'sort' | 'order' | 'after'>;

const reverse = (order: Order): Order => (order === 'asc' ? 'desc' : 'asc');

/**
 * The lists that together give the requested order, after `after`. Numbers follow from the order of application,
 * because the n-th cursed inscription has number -n.
 */
export function sortedLists(
  { sort = 'height', order = 'asc', after }: Sorted,
  window: KeyWindow,
): SortedList[] {
  const lists = wholeLists(sort, order, window);
  return after === undefined ? lists : listsAfter(sort, order, window, after);
}

const behindKey = (window: KeyWindow, order: Order, key: number): KeyWindow =>
  overlapOf(
    window,
    order === 'asc' ? { from: Math.min(key + 1, keysEnd), to: keysEnd } : { from: 0, to: key },
  );

const unnumbered: Clause = { term: { unnumbered: true } };

/** A clause for inscriptions with a number. The curse can be known even if the number is unknown. */
const numbered = (isCursed: boolean): Clause => ({
  bool: { filter: [{ term: { cursed: isCursed } }], must_not: [unnumbered] },
});

/** Lists by number. Cursed numbers count down. Inscriptions without a number only have their order. */
const byNumber: readonly { readonly clause: Clause; readonly order: Order }[] = [
  { clause: numbered(true), order: 'desc' },
  { clause: numbered(false), order: 'asc' },
  { clause: unnumbered, order: 'asc' },
];

function wholeLists(sort: SearchSort, order: Order, window: KeyWindow): SortedList[] {
  if (sort !== 'number') return [{ by: sort === 'length' ? 'size' : 'key', clauses: [], window, order }];
  const lists = byNumber.map(
    (list): SortedList => ({
      by: 'key',
      clauses: [list.clause],
      window,
      order: order === 'asc' ? list.order : reverse(list.order),
    }),
  );
  return order === 'asc' ? lists : lists.reverse();
}

function listsAfter(sort: SearchSort, order: Order, window: KeyWindow, after: SearchPlace): SortedList[] {
  if (sort === 'length') {
    const beyond = order === 'asc' ? { gt: after.length } : { lt: after.length };
    return [
      {
        by: 'key',
        clauses: [{ term: { size: after.length } }],
        window: behindKey(window, order, after.key),
        order,
      },
      { by: 'size', clauses: [{ range: { size: beyond } }], window, order },
    ];
  }
  const lists = wholeLists(sort, order, window);
  const at = sort === 'height' ? 0 : placeOfNumber(after.number, order);
  return lists
    .slice(at)
    .map((list, index) =>
      index === 0 ? { ...list, window: behindKey(window, list.order, after.key) } : list,
    );
}

/** Index, of three, of the list by number that an inscription belongs to. */
function placeOfNumber(number: number | null, order: Order): number {
  const ascending = number === null ? 2 : Number(number >= 0);
  return order === 'asc' ? ascending : 2 - ascending;
}
