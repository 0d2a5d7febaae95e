import { html, type Markup } from '#web/html.ts';

/** Orders of the items of a collection, each with the words of its choice. */
export const itemSorts = {
  listed: 'order of the list',
  number: 'number, lowest first',
  'number-desc': 'number, highest first',
  name: 'name',
  price: 'last price, lowest first',
  'price-desc': 'last price, highest first',
  sold: 'newest sale first',
} as const;

export type ItemSort = keyof typeof itemSorts;

export interface ItemFilters {
  readonly query: string;
  readonly sort: ItemSort;
  /** False: a collection of the chain that is too long to be searched or sorted. */
  readonly isSearchable: boolean;
  /** Orders that are offered. */
  readonly sorts: readonly ItemSort[];
}

/** The parameters of a page of items, without its number. */
export const itemParameters = ({
  query,
  sort,
}: Pick<ItemFilters, 'query' | 'sort'>): Record<string, string> => ({
  ...(query === '' ? {} : { q: query }),
  ...(sort === 'listed' ? {} : { sort }),
});

/** Search and order of the items of a collection, or why it has neither. */
export function itemFilters(slug: string, { query, sort, sorts, isSearchable }: ItemFilters): Markup {
  if (!isSearchable)
    return html`<p class="faint">This collection is too long to be searched or sorted here: its items come in their own order.</p>`;
  return html`<form class="find" action="/collection/${slug}#items" method="get" role="search" aria-label="Items">
  <label>Name, number or id <input name="q" type="search" value="${query}" maxlength="100" autocomplete="off"></label>
  ${
    sorts.length > 1 &&
    html`<label>Sort by <select name="sort">${sorts.map((name) => html`<option value="${name}" ${name === sort ? html`selected` : ''}>${itemSorts[name]}</option>`)}</select></label>`
  }
  <button type="submit">Show</button>
</form>`;
}
