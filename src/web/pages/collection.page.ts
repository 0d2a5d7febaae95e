import { grouped, plural, shortHash, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type Bar, type ChartOf, timeChart } from '#web/parts/chart.ts';
import { strangersName } from '#web/parts/strangers-text.ts';
import { type SumsLine, thumbnail } from './market.page.ts';

/** A sale of an item. */
export interface SaleLine {
  readonly inscriptionId: string;
  readonly name: string;
  /** Sats. */
  readonly price: number;
  /** Unix seconds. */
  readonly time: number;
  readonly txid: string;
  /** Addresses, or scripts in hex. */
  readonly maker: string;
  /** Null: the inscription went into the fee. */
  readonly taker: string | null;
  readonly wash: boolean;
}

export interface HolderLine {
  /** Null: the script has none. */
  readonly address: string | null;
  readonly script: string;
  readonly items: number;
  /** Of all items, up to 1. */
  readonly share: number;
}

export interface ItemLine {
  readonly inscriptionId: string;
  readonly name: string;
  /** False: no indexed block reveals it. */
  readonly indexed: boolean;
  /** Null: no sale of it is known. */
  readonly lastSale: {
    /** Sats. */
    readonly price: number;
    readonly wash: boolean;
  } | null;
}

/** What was counted of a collection, and the first of what was found. */
export interface CountedView {
  readonly indexed: number;
  /** Items whose place is unknown, as a block without its spent outputs moved them. */
  readonly unknown: number;
  /** Of all holders. Null: none is known. */
  readonly holderCount: number | null;
  /** Null: sales are not indexed. */
  readonly total: SumsLine | 'unknown' | null;
  /** Sats: the cheapest sale in the mempool. */
  readonly pendingFloor: number | null;
  /** Volumes and mean prices in sats, bar for bar the same days. */
  readonly volumes: readonly Bar[];
  readonly prices: readonly Bar[];
  /** The newest ones. */
  readonly sales: readonly SaleLine[];
  /** Those of most items. */
  readonly holders: readonly HolderLine[];
}

export interface CollectionPageView {
  readonly site: Site;
  readonly slug: string;
  readonly name: string;
  readonly kind: 'import' | 'parent' | 'gallery';
  readonly icon: string | null;
  readonly description: string | null;
  /** http and https URLs of somebody else. */
  readonly links: readonly { readonly words: string; readonly href: string }[];
  /** Items that it names. */
  readonly listed: number;
  /** Null: a later page, which has items alone. */
  readonly counted: CountedView | null;
  /** What is missing of sales. Null: nothing. */
  readonly note: string | null;
  /** False: of an item without a known sale it is unknown whether it was sold. */
  readonly areSalesKnown: boolean;
  readonly page: readonly ItemLine[];
  /** The last item of the page before; null: this is the first page. */
  readonly after: string | null;
  /** Null: this is the last page. */
  readonly nextAfter: string | null;
}

const sats = (amount: number): string => plural(amount, 'sat');

const volumeChart: ChartOf = {
  id: 'volume',
  title: 'Volume over time',
  column: 'Volume',
  amountWords: sats,
};
const priceChart: ChartOf = {
  id: 'price',
  title: 'Mean price over time',
  column: 'Mean price',
  amountWords: sats,
};

/** A collection of the market: what it sold, who holds it, and its items. */
export function collectionPage(view: CollectionPageView): Markup {
  const { slug, name, kind, icon, description, links, counted, note } = view;
  return layout({
    title: `${name} · Collection · Satscribe`,
    site: view.site,
    main: html`<section>
<h1 class="wrap named">${icon !== null && thumbnail(icon, 64)}${strangersName(name)}</h1>
<p class="faint">${kindWords[kind]}${kind !== 'import' && html` <a class="mono wrap" href="/inscription/${view.slug}">${view.slug}</a>`}</p>
${description !== null && html`<p class="wrap lines">${strangersName(description)}</p>`}
${links.length > 0 && html`<p class="tools">${links.map(({ words, href }) => html`<a href="${href}" rel="nofollow noopener noreferrer ugc">${words}</a> `)}</p>`}
${counted !== null && facts(view.listed, counted)}
${counted !== null && counted.unknown > 0 && html`<p class="faint">${unknownWords(counted.unknown)}</p>`}
${note !== null && html`<p class="faint">${note}</p>`}
</section>
${counted !== null && [charts(counted), salesSection(slug, counted), holdersSection(slug, counted)]}
${itemsSection(view)}`,
  });
}

const kindWords = {
  import: 'Imported by the operator of this server',
  parent: 'The children of',
  gallery: 'The gallery of',
} as const;

const unknownWords = (items: number): string =>
  `Who holds ${plural(items, 'item')} is unknown: a block moved ${items === 1 ? 'it' : 'them'} whose spent outputs are not indexed.`;

const fact = (words: string, value: string): Markup =>
  html`<div><dt>${words}</dt><dd>${value}</dd></div>
`;

function facts(listed: number, { indexed, holderCount, total, pendingFloor }: CountedView): Markup {
  const items = indexed === listed ? 'items' : `items, ${grouped(indexed)} of them indexed`;
  return html`<dl class="facts">
${fact(items, grouped(listed))}
${fact(holderCount === 1 ? 'holder' : 'holders', holderCount === null ? '–' : grouped(holderCount))}
${total !== null && salesFacts(total)}
${pendingFloor !== null && fact('sats: the cheapest pending sale', grouped(pendingFloor))}
</dl>`;
}

function salesFacts(total: SumsLine | 'unknown'): HtmlValue {
  if (total === 'unknown') return [fact('sales', '–'), fact('sats of volume', '–')];
  const { sales, volume, wash } = total;
  return [
    fact(sales === 1 ? 'sale' : 'sales', grouped(sales)),
    fact('sats of volume', grouped(volume)),
    wash.sales > 0 &&
      fact(`wash ${wash.sales === 1 ? 'sale' : 'sales'}, in no other figure`, grouped(wash.sales)),
  ];
}

function charts({ volumes, prices }: CountedView): HtmlValue {
  const volume = timeChart(volumes, volumeChart);
  const price = timeChart(prices, priceChart);
  if (volume === null || price === null) return null;
  return html`<section><h2>Volume and price <span class="faint">in sats</span></h2>
<h3>Volume</h3>${volume}
<h3>Mean price</h3>${price}
</section>`;
}

function salesSection(slug: string, { sales }: CountedView): HtmlValue {
  if (sales.length === 0) return null;
  return html`<section><h2>Latest sales</h2>
<div class="scroll"><table class="rows">
<thead><tr><th scope="col">Item</th><th scope="col" class="num">Price</th><th scope="col">Sold</th><th scope="col">Seller</th><th scope="col">Buyer</th></tr></thead>
<tbody>
${sales.map(
  ({ inscriptionId, name, price, time, txid, maker, taker, wash }) => html`<tr>
  <th scope="row"><a href="/inscription/${inscriptionId}">${strangersName(name)}</a></th>
  <td class="num nowrap">${sats(price)}${wash && html` <span class="chip">wash</span>`}</td>
  <td class="nowrap"><a href="/sale/${txid}">${timeWords(time)}</a></td>
  <td class="mono" title="${maker}">${shortHash(maker)}</td>
  <td class="mono" title="${taker ?? ''}">${taker === null ? 'nobody: the fee' : shortHash(taker)}</td>
</tr>
`,
)}
</tbody>
</table></div>
<p class="tools"><a href="/marketplace/data/collections/activity?slug=${slug}&amp;startDate=1970-01-01">All sales (JSON)</a> <a href="/marketplace/data/export?slug=${slug}&amp;format=csv">All sales (CSV)</a> <a href="/marketplace/data/collections/${slug}/stats">Sales by day (JSON)</a></p>
</section>`;
}

function holdersSection(slug: string, { holders, holderCount }: CountedView): HtmlValue {
  if (holders.length === 0) return null;
  return html`<section><h2>Holders</h2>
<div class="scroll"><table class="rows">
<thead><tr><th scope="col">Holder</th><th scope="col" class="num">Items</th><th scope="col" class="num">Share</th></tr></thead>
<tbody>
${holders.map(
  ({ address, script, items, share }) => html`<tr>
  <th scope="row">${address === null ? html`<span class="mono" title="${script}">${shortHash(script)}</span>` : html`<a class="mono wrap" href="/address/${address}">${address}</a>`}</th>
  <td class="num">${grouped(items)}</td>
  <td class="num">${(share * 100).toFixed(1)} %</td>
</tr>
`,
)}
</tbody>
</table></div>
<p class="tools"><a href="/marketplace/data/collections/${slug}/holders">${holderCount === null ? 'Holders' : `All ${grouped(holderCount)} holders`} by block (JSON)</a></p>
</section>`;
}

function itemsSection({ slug, page, after, nextAfter, listed, areSalesKnown }: CollectionPageView): Markup {
  const empty = listed === 0 ? 'It names no item.' : 'There are no items after this one.';
  return html`<section id="items"><h2>Items</h2>
${page.length > 0 ? html`<ul class="cards">${page.map((item) => itemCard(item, areSalesKnown))}</ul>` : html`<p class="empty">${empty}</p>`}
<p class="steps"><span>${after !== null && html`<a href="/collection/${slug}" rel="first">« First</a>`}</span><span>${nextAfter !== null && html`<a href="/collection/${slug}?after=${nextAfter}#items" rel="next">Next ›</a>`}</span></p>
</section>`;
}

function itemCard({ inscriptionId, name, indexed, lastSale }: ItemLine, areSalesKnown: boolean): Markup {
  const sold =
    lastSale === null
      ? areSalesKnown
        ? 'no sale known'
        : '–'
      : html`last sold for ${sats(lastSale.price)}${lastSale.wash && html` <b class="chip">wash</b>`}`;
  return html`<li class="card"><a href="/inscription/${inscriptionId}" title="${inscriptionId}">
  <span class="view">${indexed && thumbnail(inscriptionId, 190)}</span>
  <span class="line"><b>${strangersName(name)}</b></span>
  <span class="line faint"><span>${indexed ? sold : 'not indexed yet'}</span></span>
</a></li>
`;
}
