import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { price, volume } from '#web/parts/amounts.ts';
import { artTile } from '#web/parts/art-tile.ts';
import { type CollectionHead, collectionFrame } from '#web/parts/collection-frame.ts';
import { type ItemFilters, itemFilters, itemParameters } from '#web/parts/item-filters.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';
import { washChip } from '#web/parts/sale-rows.ts';
import { type ChartedSales, salesCharts } from '#web/parts/sales-charts.ts';
import { strangersName } from '#web/parts/strangers-text.ts';
import type { SumsLine } from './market.page.ts';

export interface ItemLine {
  readonly inscriptionId: string;
  readonly name: string;
  readonly number: number | null;
  /** False if no indexed block reveals the item. */
  readonly indexed: boolean;
  /** `null` if the item has no content type, or is not indexed. */
  readonly contentType: string | null;
  /** The beginning of a text content. `null` if the content is not a text, or is not loaded. */
  readonly text: string | null;
  /** `null` if no sale of the item is known. */
  readonly lastSale: {
    /** Price in sats. */
    readonly price: number;
    readonly wash: boolean;
  } | null;
}

/** Sums of sales in a period up to the last block, and in the period before it. */
export interface WindowLine {
  readonly words: string;
  readonly sums: SumsLine;
  /** `null` if there is no earlier period, or if not all sales of that period are counted. */
  readonly before: SumsLine | null;
}

/** Figures of a collection. */
export interface CountedView extends ChartedSales {
  readonly indexed: number;
  /** Number of items whose location is unknown, because a block without spent outputs moved them. */
  readonly unknown: number;
  /** Number of holders of all items. `null` if no holder is known. */
  readonly holderCount: number | null;
  /** `null` if sales are unknown. */
  readonly windows: readonly WindowLine[] | null;
  /** Price of the cheapest sale in the mempool, in sats. `null` if no sale is known. */
  readonly pendingFloor: number | null;
}

/**
 * A position in the list of items: a page number, or the item before the page if the sort order has no page numbers.
 */
export type ItemsPlace =
  | { readonly kind: 'page'; readonly page: number; readonly totalPages: number }
  | {
      readonly kind: 'cursor';
      /** `null` if this is the first page. */
      readonly after: string | null;
      /** `null` if this is the last page. */
      readonly nextAfter: string | null;
    };

export interface CollectionPageView {
  readonly head: CollectionHead;
  readonly description: string | null;
  /** Whether the collection's items are for sale here now, before they are inscribed. */
  readonly isMinting: boolean;
  /** Links that a stranger chose: only http and https URLs. */
  readonly links: readonly { readonly words: string; readonly href: string }[];
  /** Number of items that the collection names. */
  readonly listed: number;
  /** `null` if this is a later or filtered page, which has only items. */
  readonly counted: CountedView | null;
  /** False if an item without a known sale may still have been sold. */
  readonly areSalesKnown: boolean;
  readonly filters: ItemFilters;
  /** Number of items that match the filters. `null` if the items are not counted. */
  readonly matching: number | null;
  readonly items: readonly ItemLine[];
  readonly place: ItemsPlace;
}

/** The page of a collection of the market: its sales, and its items. */
export function collectionPage(view: CollectionPageView): Markup {
  const { head, description, isMinting, links, counted, listed } = view;
  return collectionFrame(head, {
    tab: 'items',
    description: `${head.name}: ${plural(listed, 'item')}, with sales, volume, lowest price and holders as the Bitcoin chain shows them.`,
    intro: [
      description !== null && html`<p class="wrap lines">${strangersName(description)}</p>`,
      isMinting && html`<p><a class="button primary" href="/mint/${head.slug}">Mint</a></p>`,
      links.length > 0 &&
        html`<p class="tools">${links.map(({ words, href }) => html`<a href="${href}" rel="nofollow noopener noreferrer ugc">${words}</a> `)}</p>`,
      counted !== null && facts(head.slug, listed, counted),
      counted !== null && counted.unknown > 0 && html`<p class="faint">${unknownWords(counted.unknown)}</p>`,
    ],
    main: [
      counted !== null && counted.windows !== null && windowsSection(counted.windows),
      counted !== null && salesCharts(counted),
      itemsSection(view),
    ],
  });
}

const unknownWords = (items: number): string =>
  `The holder of ${plural(items, 'item')} is unknown: a block without indexed spent outputs moved ${items === 1 ? 'it' : 'them'}.`;

const fact = (words: string, value: HtmlValue): Markup =>
  html`<div><dt>${words}</dt><dd>${value}</dd></div>
`;

function facts(
  slug: string,
  listed: number,
  { indexed, holderCount, windows, pendingFloor }: CountedView,
): Markup {
  const items = indexed === listed ? 'items' : `items, ${grouped(indexed)} of them indexed`;
  return html`<dl class="facts">
${fact(items, grouped(listed))}
${fact(holderCount === 1 ? 'holder' : 'holders', holderCount === null ? 'unknown' : html`<a href="/collection/${slug}/holders">${grouped(holderCount)}</a>`)}
${windows === null && fact('sales', 'unknown')}
${pendingFloor !== null && fact('cheapest pending sale', price(pendingFloor))}
</dl>`;
}

function windowsSection(windows: readonly WindowLine[]): Markup {
  return html`<section><h2>Sold</h2>
<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Up to the last block</th><th scope="col" class="num">Lowest sale</th><th scope="col" class="num">Mean price</th><th scope="col" class="num">Sales</th><th scope="col" class="num">Volume</th><th scope="col" class="num">Change</th></tr></thead>
<tbody>
${windows.map(windowRow)}
</tbody>
</table></div>
<p class="faint">The lowest sale is the cheapest one of the time span. It is not an offer: listings are signatures that marketplaces keep, so the chain does not show them. Change compares the volume with the time span before.</p>
</section>`;
}

function windowRow({ words, sums, before }: WindowLine): Markup {
  const { sales, volume: sats, lowest, washSales } = sums;
  return html`<tr>
  <th scope="row" class="nowrap">${words}</th>
  <td class="num" data-label="Lowest sale"><span class="nowrap">${lowest === null ? 'no sale' : price(lowest)}</span></td>
  <td class="num" data-label="Mean price"><span class="nowrap">${sales === 0 ? '–' : price(Math.round(sats / sales))}</span></td>
  <td class="num" data-label="Sales"><span>${grouped(sales)}${washSales > 0 && html` <small class="faint nowrap">and ${grouped(washSales)} wash</small>`}</span></td>
  <td class="num" data-label="Volume">${volume(sats)}</td>
  <td class="num" data-label="Change"><span class="nowrap">${changeWords(sats, before)}</span></td>
</tr>
`;
}

/** The change of a sum in words. If there were no earlier sales, there is no percentage. */
function changeWords(sats: number, before: SumsLine | null): string {
  if (before === null || before.volume === 0) return '–';
  const percent = Math.round((sats / before.volume - 1) * 100);
  return `${percent > 0 ? '+' : ''}${grouped(percent)} %`.replace('-', '−');
}

function itemsSection(view: CollectionPageView): Markup {
  const { head, items, listed, areSalesKnown, filters, matching } = view;
  const isFiltered = filters.query !== '' || filters.traits.length > 0;
  const empty =
    listed === 0
      ? 'This collection has no items yet.'
      : isFiltered
        ? 'No item matches.'
        : 'There are no items after these.';
  return html`<section id="items"><h2>Items${isFiltered && matching !== null && html` <span class="faint">${grouped(matching)} of ${grouped(listed)}</span>`}</h2>
${itemFilters(head.slug, filters)}
${items.length > 0 ? html`<ul class="cards">${items.map((item) => itemCard(item, areSalesKnown))}</ul>` : html`<p class="empty">${empty}</p>`}
${pager(view)}
</section>`;
}

function pager({ head: { slug }, place, filters }: CollectionPageView): HtmlValue {
  if (place.kind === 'page') {
    const { page, totalPages } = place;
    return pagesNav({ path: `/collection/${slug}`, parameters: itemParameters(filters), page, totalPages });
  }
  const { after, nextAfter } = place;
  if (after === null && nextAfter === null) return null;
  return html`<nav class="steps" aria-label="Pages of items"><span>${after !== null && html`<a href="/collection/${slug}" rel="first">« First</a>`}</span><span>${nextAfter !== null && html`<a href="/collection/${slug}?after=${nextAfter}#items" rel="next">Next ›</a>`}</span></nav>`;
}

function itemCard(item: ItemLine, areSalesKnown: boolean): Markup {
  const { inscriptionId, name, number, indexed, lastSale, contentType, text } = item;
  const sold =
    lastSale === null
      ? areSalesKnown
        ? 'no sale known'
        : 'sales unknown'
      : html`${price(lastSale.price)}${lastSale.wash && washChip}`;
  return html`<li class="card"><a href="/inscription/${inscriptionId}" title="${inscriptionId}">
  <span class="view">${indexed && artTile({ id: inscriptionId, contentType, text })}</span>
  <span class="line"><b>${strangersName(name)}</b></span>
  <span class="line faint"><span>${indexed ? sold : 'not indexed yet'}</span>${number !== null && html`<span>#${grouped(number)}</span>`}</span>
</a></li>
`;
}
