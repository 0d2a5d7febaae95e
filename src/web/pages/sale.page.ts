import type { Confidence, SaleForm } from '#kernel/sales/sale-names.ts';
import type { SaleView } from '#kernel/sales/sale-view.ts';
import { grouped, plural, shortHash, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';

export interface SalePageView {
  readonly site: Site;
  readonly txid: string;
  /** What the transaction sold: at least one. */
  readonly sales: readonly [SaleView, ...SaleView[]];
  /** False: it sold more, and these are the first. */
  readonly hasAll: boolean;
}

const formWords: Readonly<Record<SaleForm, string>> = {
  openordex: 'one dummy, the pair at 1, the item to output 0: openordex',
  'two-dummies': 'two dummies, the pair at 2, the item to output 1: Magic Eden, OKX, ordit',
  bulk: 'dummies, items and pairs in a row: a bulk purchase of OKX',
  'ord-offer': 'the item from input 0 to output 0, the payout at output 1: an offer of ord',
  pair: 'a pair at a place that no known marketplace uses',
  'all-signed': 'all outputs are signed, and the coins show who was paid',
};

const confidenceWords: Readonly<Record<Confidence, string>> = {
  'bound-known': 'the seller’s signature binds the payout, in a known layout',
  bound: 'the seller’s signature binds the payout',
  'bound-shared': 'one of several signatures binds the payout: who is paid there counts as the seller',
  'paid-by-taker': 'nothing binds the payout alone; the buyer is among those who pay',
  'offer-layout':
    'nothing binds the payout alone; others pay, in the layout of an offer of ord or of a purchase',
};

/** BIP 143, BIP 341. Other types are shown as numbers. */
const sighashWords: Readonly<Record<number, string>> = {
  0: 'DEFAULT',
  1: 'ALL',
  3: 'SINGLE',
  129: 'ALL | ANYONECANPAY',
  131: 'SINGLE | ANYONECANPAY',
};

/** What a transaction sold, and by what evidence. */
export function salePage({ site, txid, sales, hasAll }: SalePageView): Markup {
  const [{ height, time }] = sales;
  return layout({
    title: `Sale ${shortHash(txid)} · Satscribe`,
    site,
    main: html`<section>
<h1>${titleOf(sales.length, hasAll)}</h1>
<p class="mono wrap faint">${txid}</p>
<p>In <a href="/block/${height}">block ${grouped(height)}</a>, ${timeWords(time)}.</p>
${sales.map(saleSection)}
</section>`,
  });
}

function titleOf(count: number, hasAll: boolean): string {
  if (!hasAll) return `More than ${grouped(count)} sales, of which these are the first`;
  return count === 1 ? 'Sale' : `${grouped(count)} sales`;
}

function saleSection(sale: SaleView): Markup {
  const { inscriptionId, price, grossPayout, payoutOutput, feeOutput, sighash, bundle, input } = sale;
  const row = (name: string, value: HtmlValue): Markup =>
    html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`;
  const signed = sighashWords[sighash] ?? `type ${sighash}`;
  return html`<section>
<h2><a class="mono" href="/inscription/${inscriptionId}" title="${inscriptionId}">${shortHash(inscriptionId)}</a></h2>
<dl class="table">
${row('Price', html`${plural(price, 'sat')}${sale.wash && html` <span class="chip">wash</span>`}`)}
${row('Paid out', html`${plural(grossPayout, 'sat')}, by output ${payoutOutput}`)}
${row('Class', sale.class === 'sale' ? 'a sale: the seller signed for the payout' : 'an accepted offer: all signed everything')}
${row('Seller', owner(sale.maker))}
${row('Buyer', sale.taker === null ? html`<span class="faint">nobody: the inscription went into the fee</span>` : owner(sale.taker))}
${bundle > 1 && row('Bundle', `${grouped(bundle)} inscriptions share the payout`)}
${row('Layout', formWords[sale.form])}
${row('Evidence', html`input ${input}, signed with ${signed}: ${confidenceWords[sale.confidence]}`)}
${feeOutput !== null && row('Fee or royalty', `output ${feeOutput} is taken for one; it is no part of the price`)}
${sale.wash && row('Wash', 'seller and buyer are one, or pay for each other: outside volume and floor')}
${row('Rules', `version ${sale.rules}`)}
</dl>
</section>`;
}

/** A script without an address is shown in hexadecimal digits, or by its hash: it has no page. */
function owner(text: string): Markup {
  return /^(?:(?:[0-9a-f]{2})+|sha256:[0-9a-f]{64})$/u.test(text)
    ? html`<span class="mono wrap">${text}</span>`
    : html`<a class="mono wrap" href="/address/${text}">${text}</a>`;
}

/** The newest sales of an inscription, as its page shows them. */
export function salesTable(sales: readonly SaleView[]): HtmlValue {
  if (sales.length === 0) return null;
  return html`<section><h2>Sales</h2>
<div class="scroll"><table class="rows">
<thead><tr><th scope="col">Sold</th><th scope="col" class="num">Price</th><th scope="col">Seller</th><th scope="col">Buyer</th></tr></thead>
<tbody>
${sales.map(
  ({ txid, time, price, maker, taker, wash }) => html`<tr>
  <th scope="row" class="nowrap"><a href="/sale/${txid}">${timeWords(time)}</a></th>
  <td class="num nowrap">${plural(price, 'sat')}${wash && html` <span class="chip">wash</span>`}</td>
  <td class="mono" title="${maker}">${shortHash(maker)}</td>
  <td class="mono" title="${taker ?? ''}">${taker === null ? 'nobody' : shortHash(taker)}</td>
</tr>
`,
)}
</tbody>
</table></div></section>`;
}
