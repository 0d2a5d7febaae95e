import type { TraitPair } from '#kernel/text/trait-pairs.ts';
import { html, type Markup } from '#web/html.ts';
import { type TraitChoice, traitChips, traitChoices, traitParameters } from './item-traits.ts';

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
  /** Traits that items are asked for. */
  readonly traits: readonly TraitPair[];
  /** Traits that are offered. */
  readonly choices: readonly TraitChoice[];
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
  traits,
}: Pick<ItemFilters, 'query' | 'sort' | 'traits'>): Record<string, string> => ({
  ...(query === '' ? {} : { q: query }),
  ...(sort === 'listed' ? {} : { sort }),
  ...traitParameters(traits),
});

/** Search, order and traits of the items of a collection, or why it has neither. */
export function itemFilters(slug: string, filters: ItemFilters): Markup {
  const { query, sort, sorts, isSearchable, traits, choices } = filters;
  if (!isSearchable)
    return html`<p class="faint">This collection is too long to be searched or sorted here: its items come in their own order.</p>`;
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
