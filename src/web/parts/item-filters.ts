import type { TraitPair } from '#kernel/text/trait-pairs.ts';
import { html, type Markup } from '#web/html.ts';
import { type TraitChoice, traitChips, traitChoices, traitParameters } from './item-traits.ts';

/** Sort orders of a collection's items, each with the words of its choice. */
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
  /** Traits that the items must have. */
  readonly traits: readonly TraitPair[];
  /** Traits that the reader can choose. */
  readonly choices: readonly TraitChoice[];
  readonly sort: ItemSort;
  /** False if the collection comes from the chain, and is too long to be searched or sorted. */
  readonly isSearchable: boolean;
  /** Sort orders that the reader can choose. */
  readonly sorts: readonly ItemSort[];
}

/** The parameters of a page of items, without the page number. */
export const itemParameters = ({
  query,
  sort,
  traits,
}: Pick<ItemFilters, 'query' | 'sort' | 'traits'>): Record<string, string> => ({
  ...(query === '' ? {} : { q: query }),
  ...(sort === 'listed' ? {} : { sort }),
  ...traitParameters(traits),
});

/** Search, sort order and traits of a collection's items, or the reason why they are unavailable. */
export function itemFilters(slug: string, filters: ItemFilters): Markup {
  const { query, sort, sorts, isSearchable, traits, choices } = filters;
  if (!isSearchable)
    return html`<p class="faint">This collection is too long to be searched or sorted here: its items are in their original order.</p>`;
  const linkTo = (others: readonly TraitPair[]): string => {
    const parameters = new URLSearchParams(itemParameters({ query, sort, traits: others })).toString();
    return `/collection/${slug}${parameters === '' ? '' : `?${parameters}`}#items`;
  };
  return html`<form class="find" action="/collection/${slug}#items" method="get" role="search" aria-label="Items">
  <label>Name, number or id <input name="q" type="search" value="${query}" maxlength="100" autocomplete="off"></label>
  ${
    sorts.length > 1 &&
    html`<label>Sort by <select name="sort">${sorts.map((name) => html`<option value="${name}" ${name === sort ? html`selected` : ''}>${itemSorts[name]}</option>`)}</select></label>`
  }
  ${Object.entries(traitParameters(traits)).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`)}
  <button type="submit">Show</button>
</form>
${traitChoices(choices, traits, linkTo)}
${traitChips(traits, linkTo)}`;
}
