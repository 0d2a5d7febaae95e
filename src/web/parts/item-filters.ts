import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { strangersName } from './strangers-text.ts';

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

/** A trait of an item: the name of a property and its value. */
export interface Trait {
  readonly name: string;
  readonly value: string;
}

/** Values of a trait, the most frequent first. */
export interface TraitGroup {
  readonly name: string;
  readonly values: readonly { readonly value: string; readonly items: number }[];
  /** Values that are too rare to be listed. */
  readonly more: number;
}

export interface ItemFilters {
  readonly query: string;
  readonly sort: ItemSort;
  /** Orders that are offered: a long collection of the chain has one. */
  readonly sorts: readonly ItemSort[];
  /** All of them must fit. */
  readonly traits: readonly Trait[];
}

/** Traits as one parameter: a form in itself, so that any name and value fits. */
export const traitsText = (traits: readonly Trait[]): string =>
  new URLSearchParams(traits.map(({ name, value }): [string, string] => [name, value])).toString();

/** The parameters of a page of items, without its number. */
export function itemParameters({ query, sort, traits }: Omit<ItemFilters, 'sorts'>): Record<string, string> {
  return {
    ...(query === '' ? {} : { q: query }),
    ...(sort === 'listed' ? {} : { sort }),
    ...(traits.length === 0 ? {} : { traits: traitsText(traits) }),
  };
}

/** Search, order and traits of the items of a collection. */
export function itemFilters(slug: string, filters: ItemFilters, groups: readonly TraitGroup[]): Markup {
  const { query, sort, sorts, traits } = filters;
  const path = `/collection/${slug}`;
  const to = (others: Partial<ItemFilters>): string => {
    const parameters = new URLSearchParams(itemParameters({ ...filters, ...others })).toString();
    return `${path}${parameters === '' ? '' : `?${parameters}`}#items`;
  };
  return html`<form class="find" action="${path}#items" method="get" role="search" aria-label="Items">
  <label>Name, number or id <input name="q" type="search" value="${query}" maxlength="100" autocomplete="off"></label>
  ${
    sorts.length > 1 &&
    html`<label>Sort by <select name="sort">${sorts.map((name) => html`<option value="${name}" ${name === sort ? html`selected` : ''}>${itemSorts[name]}</option>`)}</select></label>`
  }
  ${traits.length > 0 && html`<input type="hidden" name="traits" value="${traitsText(traits)}">`}
  <button type="submit">Show</button>
</form>
${traits.length > 0 && chosen(traits, (left) => to({ traits: left }))}
${groups.length > 0 && traitGroups(groups, traits, (next) => to({ traits: next }))}`;
}

type LinkTo = (traits: readonly Trait[]) => string;

const chosen = (traits: readonly Trait[], to: LinkTo): Markup =>
  html`<p class="set">${traits.map((trait) => html`<a class="chip" href="${to(traits.filter((other) => other !== trait))}" title="Take away">${strangersName(trait.name)}: ${strangersName(trait.value)} <span aria-hidden="true">×</span><span class="unseen"> (take away)</span></a> `)}</p>`;

function traitGroups(groups: readonly TraitGroup[], chosenTraits: readonly Trait[], to: LinkTo): HtmlValue {
  return html`<details class="traits"><summary>Traits</summary>
${groups.map(({ name, values, more }) => {
  const others = chosenTraits.filter((trait) => trait.name !== name);
  return html`<details><summary>${strangersName(name)} <span class="faint">${grouped(values.length + more)}</span></summary>
<p class="types">${values.map(({ value, items }) => html`<a class="chip" href="${to([...others, { name, value }])}">${strangersName(value)} <b>${grouped(items)}</b></a> `)}${more > 0 && html`<span class="faint">and ${grouped(more)} rarer ones</span>`}</p></details>
`;
})}
</details>`;
}
