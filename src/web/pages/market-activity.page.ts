import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type SaleLine, saleRows } from '#web/parts/sale-rows.ts';

/**
 * Filters of the list of all sales, as values of the page's parameters. An empty value means that there is no bound.
 */
export interface ActivityFilters {
  readonly class: 'all' | 'sale' | 'offer';
  readonly from: string;
  readonly to: string;
  readonly wash: 'shown' | 'hidden';
}

export interface MarketActivityView {
  readonly site: Site;
  readonly filters: ActivityFilters;
  readonly sales: readonly SaleLine[];
  /** A note about missing sales. `null` if nothing is missing. */
  readonly note: string | null;
  readonly isFirst: boolean;
  /** The cursor of older sales. `null` if there are no older sales. */
  readonly next: string | null;
}

/** The page of all sales of the market, newest first. */
export function marketActivityPage({
  site,
  filters,
  sales,
  note,
  isFirst,
  next,
}: MarketActivityView): Markup {
  const link = (others: Readonly<Record<string, string>>): string =>
    `/market/activity?${new URLSearchParams({ ...filters, ...others }).toString()}`;
  return layout({
    title: 'Latest sales · Market · Satscribe',
    description:
      'Every sale of an inscription that the Bitcoin chain shows, newest first, with price, seller and buyer.',
    site,
    main: html`<section>
<h1>Sales</h1>
<p class="faint">Every sale and accepted offer that the chain shows, newest first. <a href="/market">Collections</a></p>
${note !== null && html`<p class="faint">${note}</p>`}
${filterForm(filters)}
${sales.length > 0 ? saleRows(sales) : html`<p class="empty">${emptyWords(next)}</p>`}
<nav class="steps" aria-label="Pages of sales"><span>${!isFirst && html`<a href="${link({})}" rel="first">« Newest</a>`}</span><span>${next !== null && html`<a href="${link({ before: next })}" rel="next">Older ›</a>`}</span></nav>
</section>`,
  });
}

function emptyWords(next: string | null): string {
  return next === null
    ? 'No sale matches.'
    : 'No match among the last 5,000 checked sales. Older ones may match.';
}

function filterForm({ class: of, from, to, wash }: ActivityFilters): Markup {
  const option = (name: string, words: string, chosen: string): Markup =>
    html`<option value="${name}" ${name === chosen ? html`selected` : ''}>${words}</option>`;
  return html`<form class="find" action="/market/activity" method="get">
  <label>Kind <select name="class">${option('all', 'sales and offers', of)}${option('sale', 'sales', of)}${option('offer', 'accepted offers', of)}</select></label>
  <label>From (sats) <input name="from" inputmode="numeric" pattern="[0-9]{1,16}" maxlength="16" value="${from}"></label>
  <label>To (sats) <input name="to" inputmode="numeric" pattern="[0-9]{1,16}" maxlength="16" value="${to}"></label>
  <label>Wash sales <select name="wash">${option('shown', 'shown', wash)}${option('hidden', 'hidden', wash)}</select></label>
  <button type="submit">Show</button>
</form>`;
}
