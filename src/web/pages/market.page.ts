import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { price, volume } from '#web/parts/amounts.ts';
import { type Bar, type ChartOf, timeChart } from '#web/parts/chart.ts';
import { type SaleLine, saleRows } from '#web/parts/sale-rows.ts';
import { strangersName } from '#web/parts/strangers-text.ts';
import { thumbnail } from '#web/parts/thumbnail.ts';

/** Sums of sales in a period. */
export interface SumsLine {
  readonly sales: number;
  /** Volume in sats. */
  readonly volume: number;
  /** The lowest price in sats. `null` if there are no sales, or only wash sales. */
  readonly lowest: number | null;
  /** Number of wash sales. No other figure includes them. */
  readonly washSales: number;
}

/** Sums for each period that the market shows. */
export interface PeriodLine {
  readonly day: SumsLine;
  readonly week: SumsLine;
  readonly month: SumsLine;
}

export interface CollectionLine {
  readonly slug: string;
  /** A name that a stranger chose. */
  readonly name: string;
  /** The id of an inscription. */
  readonly icon: string | null;
  readonly items: number;
  /**
   * `null` if the sales are unknown, or if the collection comes from the chain, because the sales of such collections
   * are not counted.
   */
  readonly sold: PeriodLine | null;
}

/** Sort orders of the list, each with the words of its link. */
export const marketSorts = {
  'volume-day': 'volume of 24 h',
  'volume-week': 'volume of 7 days',
  'volume-month': 'volume of 30 days',
  'sales-day': 'sales in 24 h',
  'sales-week': 'sales in 7 days',
  'sales-month': 'sales in 30 days',
  lowest: 'lowest sale',
  items: 'items',
  name: 'name',
} as const;

export type MarketSort = keyof typeof marketSorts;

export interface MarketView {
  readonly site: Site;
  readonly query: string;
  readonly sort: MarketSort;
  readonly order: 'asc' | 'desc';
  readonly collections: readonly CollectionLine[];
  /** Sums of the sales of all inscriptions. `null` if the sums are unknown, or if this is a later page. */
  readonly all: PeriodLine | null;
  /** Volumes of the last days. */
  readonly bars: readonly Bar[];
  /** The newest sales of all inscriptions. */
  readonly sales: readonly SaleLine[];
  /** A note about missing sales. `null` if nothing is missing. */
  readonly note: string | null;
  /** Number of the page, from 0. */
  readonly page: number;
  readonly nextPage: number | null;
}

const volumeChart: ChartOf = {
  id: 'volume',
  title: 'Volume of all sales, by day',
  column: 'Volume in sats',
  amountWords: (sats) => plural(sats, 'sat'),
};

/** The page of the market: its collections, their sales, and the newest sales. */
export function marketPage(view: MarketView): Markup {
  const { site, query, collections, note, page, nextPage } = view;
  const pageLink = (target: number): string => linkTo(view, { page: String(target) });
  return layout({
    title: 'Market · Satscribe',
    description:
      'Sales of inscriptions from the Bitcoin chain: collections by volume, number of sales and lowest price.',
    site,
    main: html`<section>
<h1>Market</h1>
<p class="faint">Sales of inscriptions that the chain shows. Times are block times, up to the last block.</p>
${note !== null && html`<p class="faint">${note}</p>`}
${view.all !== null && totals(view.all)}
${volumes(view.bars)}
</section>
${view.sales.length > 0 && latest(view.sales)}
<section>
<h2 id="collections">Collections</h2>
<form class="find" action="/market" method="get" role="search" aria-label="Collections">
  <label>Name of a collection <input name="q" type="search" value="${query}" maxlength="100" autocomplete="off"></label>
  ${hidden({ sort: view.sort, order: view.order })}
  <button type="submit">Find</button>
</form>
${sorting(view)}
${collections.length > 0 ? collectionsTable(collections) : html`<p class="empty">${emptyWords(query, page)}</p>`}
<nav class="steps" aria-label="Pages of collections"><span>${page > 0 && html`<a href="${pageLink(page - 1)}" rel="prev">‹ Page ${page}</a>`}</span><span>${nextPage !== null && html`<a href="${pageLink(nextPage)}" rel="next">Page ${nextPage + 1} ›</a>`}</span></nav>
<p class="faint">The lowest sale is the cheapest one of seven days. It is not an offer: listings are signatures that marketplaces keep, so the chain does not show them. No figure includes wash sales, in which seller and buyer are the same.</p>
</section>`,
  });
}

const hidden = (values: Readonly<Record<string, string>>): HtmlValue =>
  Object.entries(values).map(([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`);

function linkTo({ query, sort, order }: MarketView, others: Readonly<Record<string, string>>): string {
  const values = { ...(query === '' ? {} : { q: query }), sort, order, ...others };
  return `/market?${new URLSearchParams(values).toString()}#collections`;
}

function totals({ day, week, month }: PeriodLine): Markup {
  const fact = (words: string, { volume: sats, sales }: SumsLine): Markup =>
    html`<div><dt>${words}: ${plural(sales, 'sale')}</dt><dd>${volume(sats)}</dd></div>
`;
  return html`<dl class="facts">${fact('24 hours', day)}${fact('7 days', week)}${fact('30 days', month)}</dl>`;
}

function volumes(bars: readonly Bar[]): HtmlValue {
  const chart = timeChart(bars, volumeChart);
  return chart !== null && [html`<h2>Volume by day</h2>`, chart];
}

const latest = (sales: readonly SaleLine[]): Markup => html`<section>
<h2>Latest sales</h2>
${saleRows(sales)}
<p class="tools"><a href="/market/activity">All sales</a></p>
</section>`;

function sorting(view: MarketView): Markup {
  const link = ([name, words]: [string, string]): Markup => {
    const isCurrent = name === view.sort;
    const order = isCurrent && view.order === naturalOrder(name) ? opposite[view.order] : naturalOrder(name);
    const arrow = view.order === 'desc' ? '↓' : '↑';
    return html`<li><a class="chip" href="${linkTo(view, { sort: name, order })}"${isCurrent ? html` aria-current="true"` : ''}>${words}${isCurrent && html` <span aria-hidden="true">${arrow}</span><span class="unseen">${view.order === 'desc' ? ', largest first' : ', smallest first'}</span>`}</a></li>
`;
  };
  return html`<nav class="sorts" aria-label="Sort collections by"><span class="faint">Sort by</span><ul>${Object.entries(marketSorts).map(link)}</ul></nav>`;
}

const opposite = { asc: 'desc', desc: 'asc' } as const;

/** The default direction of a sort order. Names are sorted from A, numbers from the largest. */
export const naturalOrder = (sort: string): 'asc' | 'desc' => (sort === 'name' ? 'asc' : 'desc');

function emptyWords(query: string, page: number): string {
  if (page > 0) return `Page ${page + 1} is past the end.`;
  return query === ''
    ? 'No collection was imported here yet.'
    : 'No imported collection has this text in its name.';
}

function collectionsTable(collections: readonly CollectionLine[]): Markup {
  return html`<div class="scroll"><table class="rows stacked pictured">
<thead><tr><th scope="col">Collection</th><th scope="col" class="num">Lowest sale, 7 days</th><th scope="col" class="num">24 hours</th><th scope="col" class="num">7 days</th><th scope="col" class="num">30 days</th><th scope="col" class="num">Items</th></tr></thead>
<tbody>
${collections.map(
  ({ slug, name, icon, items, sold }) => html`<tr>
  <th scope="row"><a class="named" href="/collection/${slug}">${icon !== null && thumbnail(icon, 40)}<span>${strangersName(name)}</span></a></th>
  <td class="num" data-label="Lowest sale, 7 days"><span class="nowrap">${lowest(sold)}</span></td>
  <td class="num" data-label="24 hours">${soldCell(sold?.day)}</td>
  <td class="num" data-label="7 days">${soldCell(sold?.week)}</td>
  <td class="num" data-label="30 days">${soldCell(sold?.month)}</td>
  <td class="num" data-label="Items"><span>${grouped(items)}</span></td>
</tr>
`,
)}
</tbody>
</table></div>`;
}

function lowest(sold: PeriodLine | null): string {
  if (sold === null) return 'unknown';
  return sold.week.lowest === null ? 'no sale' : price(sold.week.lowest);
}

function soldCell(sums: SumsLine | undefined): Markup {
  if (sums === undefined) return html`<span class="faint">unknown</span>`;
  if (sums.sales === 0) return html`<span class="faint">no sale</span>`;
  return html`<span>${volume(sums.volume)} <small class="faint nowrap">${plural(sums.sales, 'sale')}</small></span>`;
}
