import { grouped, plural } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { strangersName } from '#web/parts/strangers-text.ts';

/** What a collection sold. Null: it is not known. */
export interface SumsLine {
  readonly sales: number;
  /** Sats. */
  readonly volume: number;
  readonly wash: { readonly sales: number };
}

export interface CollectionLine {
  readonly slug: string;
  /** Of somebody else. */
  readonly name: string;
  /** The id of an inscription. */
  readonly icon: string | null;
  readonly items: number;
  readonly week: SumsLine | null;
}

export interface MarketView {
  readonly site: Site;
  readonly query: string;
  readonly collections: readonly CollectionLine[];
  /** What is missing of sales. Null: nothing. */
  readonly note: string | null;
  /** From 0. */
  readonly page: number;
  readonly nextPage: number | null;
}

/** The collections of the market, those of the largest volume first. */
export function marketPage({ site, query, collections, note, page, nextPage }: MarketView): Markup {
  const to = (target: number): string =>
    `/market?${new URLSearchParams({ ...(query === '' ? {} : { q: query }), page: String(target) }).toString()}`;
  return layout({
    title: 'Market · Satscribe',
    site,
    main: html`<section>
<h1>Market</h1>
<p class="faint">Collections by what they sold in seven days, as the chain shows it</p>
${note !== null && html`<p class="faint">${note}</p>`}
<form class="find" action="/market" method="get" role="search">
  <label>Name of a collection <input name="q" type="search" value="${query}" maxlength="100" autocomplete="off"></label>
  <button type="submit">Find</button>
</form>
${collections.length > 0 ? collectionsTable(collections) : html`<p class="empty">${emptyWords(query, page)}</p>`}
<p class="steps"><span>${page > 0 && html`<a href="${to(page - 1)}" rel="prev">‹ Larger volume</a>`}</span><span>${nextPage !== null && html`<a href="${to(nextPage)}" rel="next">Smaller volume ›</a>`}</span></p>
</section>`,
  });
}

function emptyWords(query: string, page: number): string {
  if (page > 0) return `Page ${page} is past the end.`;
  return query === ''
    ? 'No collection was imported here yet.'
    : 'No imported collection has this in its name.';
}

function collectionsTable(collections: readonly CollectionLine[]): Markup {
  return html`<div class="scroll"><table class="rows pictured">
<thead><tr><th scope="col">Collection</th><th scope="col" class="num">Items</th><th scope="col" class="num">Sales in 7 days</th><th scope="col" class="num">Volume in 7 days</th></tr></thead>
<tbody>
${collections.map(
  ({ slug, name, icon, items, week }) => html`<tr>
  <th scope="row"><a class="named" href="/collection/${slug}">${icon !== null && thumbnail(icon, 32)}${strangersName(name)}</a></th>
  <td class="num">${grouped(items)}</td>
  <td class="num">${week === null ? '–' : grouped(week.sales)}</td>
  <td class="num nowrap">${week === null ? '–' : plural(week.volume, 'sat')}</td>
</tr>
`,
)}
</tbody>
</table></div>`;
}

/** The small picture of an inscription, which we draw: it loads when it comes near the screen. */
export const thumbnail = (id: string, size: number): Markup =>
  html`<img class="thumbnail" src="/thumbnails/${id}.jpeg" alt="" width="${size}" height="${size}" loading="lazy" decoding="async">`;
