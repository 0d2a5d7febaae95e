import type { SaleView } from '#kernel/sales/sale-view.ts';
import { grouped, plural, shortHash, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { dollars, price, priceWords } from '#web/parts/amounts.ts';
import { heightLink, inscriptionLink, transactionLink } from '#web/parts/identifiers.ts';
import { evidenceSentences, sighashNames } from '#web/parts/sale-evidence.ts';
import { buyer, party, type SaleLine, saleRows, washChip } from '#web/parts/sale-rows.ts';
import { isolated, strangersName } from '#web/parts/strangers-text.ts';
import { thumbnail } from '#web/parts/thumbnail.ts';

/** A sale of the page's transaction, and the item that it sold. */
export interface SoldItem {
  readonly sale: Omit<SaleView, 'height' | 'time'>;
  /** `null` if the inscription has no number, or if its number is unknown. */
  readonly number: number | null;
  readonly name: string;
  readonly collection: { readonly slug: string; readonly name: string } | null;
  /**
   * Other sales of the item, newest first. `null` if these sales were not read, because the transaction sold many
   * items.
   */
  readonly others: readonly SaleLine[] | null;
}

export interface SalePageView {
  readonly site: Site;
  readonly txid: string;
  /** The block with the sale. `null` if the sale is in the mempool. */
  readonly block: { readonly height: number; readonly time: number } | null;
  /** Time at which a pending sale was first seen, in Unix seconds. */
  readonly firstSeen: number | null;
  /** The current price of a bitcoin in dollars, from the operator's rates. `null` if there are no rates. */
  readonly dollarsPerCoin: number | null;
  /** The sold items: at least one. */
  readonly sold: readonly [SoldItem, ...SoldItem[]];
  /** False if the transaction has more sales than this list. */
  readonly hasAll: boolean;
}

/** The page of a transaction's sales: the prices, and the reasons why the transaction counts as a sale. */
export function salePage(view: SalePageView): Markup {
  const { site, txid, sold, hasAll } = view;
  const [{ name, sale }] = sold;
  const title = sold.length === 1 ? `Sale of ${name}` : titleOf(sold.length, hasAll);
  return layout({
    title: `${title} · Satscribe`,
    description: `${title} for ${price(sale.price)}: seller, buyer, and the evidence for the sale in the transaction.`,
    site,
    main: html`<section>
<h1 class="wrap">${sold.length === 1 ? html`Sale of ${strangersName(name)}` : title}</h1>
${view.block === null && html`<p><span class="chip part">pending</span> It waits in the mempool for a block. Until then another buyer may replace it.</p>`}
<dl class="table">
${row('Transaction', transactionLink(txid, { isWhole: true }))}
${view.block !== null && row('Block', html`${heightLink(view.block.height)}, ${timeWords(view.block.time)}`)}
${view.firstSeen !== null && row('First seen', timeWords(view.firstSeen))}
</dl>
</section>
${sold.map((item) => soldSection(item, view))}`,
  });
}

function titleOf(count: number, hasAll: boolean): string {
  return hasAll
    ? `${grouped(count)} sales in one transaction`
    : `More than ${grouped(count)} sales, of which these are the first`;
}

const row = (name: string, value: HtmlValue): Markup => html`<div><dt>${name}</dt><dd>${value}</dd></div>\n`;

function soldSection(item: SoldItem, { sold, dollarsPerCoin, block }: SalePageView): Markup {
  const { sale, number, name, collection, others } = item;
  const { inscriptionId: id } = sale;
  const head = sold.length > 1 && html`<h2 class="wrap">${strangersName(name)}</h2>`;
  const level = sold.length > 1 ? 'h3' : 'h2';
  return html`<section class="sold">
${head}
<div class="sale">
<a class="art" href="/inscription/${id}" aria-label="Inscription ${number === null ? shortHash(id) : grouped(number)}">${thumbnail(id, 240)}</a>
<dl class="table">
${row('Price', html`<b>${priceWords(sale.price)}</b>${dollars(sale.price, dollarsPerCoin)}${sale.wash && washChip}`)}
${row('Item', html`${strangersName(name)} <span class="faint">·</span> ${inscriptionLink({ id, number })}`)}
${collection !== null && row('Collection', html`<a href="/collection/${collection.slug}">${strangersName(collection.name)}</a>`)}
${row('Seller', party(sale.maker, true))}
${row('Buyer', buyer(sale.taker, true))}
${row('Kind', sale.class === 'sale' ? 'a sale: the buyer accepted the listing of the seller' : 'an accepted offer: the seller accepted the offer of the buyer')}
</dl>
</div>
${heading(level, 'Why this is a sale')}
<ul class="reasons">${evidenceSentences(sale).map((sentence) => html`<li>${isolated(sentence)}</li>\n`)}</ul>
${record(sale, block !== null)}
${others !== null && others.length > 0 && [heading(level, 'Other sales of this item'), saleRows(others)]}
</section>
`;
}

const heading = (level: 'h2' | 'h3', words: string): Markup =>
  level === 'h2' ? html`<h2>${words}</h2>` : html`<h3>${words}</h3>`;

/** The stored evidence for a sale, in the terms of docs/marketplace.md. */
function record(sale: SoldItem['sale'], hasJson: boolean): Markup {
  const { input, payoutOutput, grossPayout, feeOutput, sighash, bundle } = sale;
  return html`<details class="record"><summary>The exact record</summary><dl class="table">
${row('Class', sale.class)}
${row('Layout', sale.form)}
${row('Confidence', sale.confidence)}
${row('Signature', `input ${input}, signed with ${sighashNames[sighash] ?? `type ${sighash}`}`)}
${row('Paid out', `${plural(grossPayout, 'sat')}, by output ${payoutOutput}`)}
${row('Fee output', feeOutput === null ? 'none' : String(feeOutput))}
${row('Bundle', String(bundle))}
${row('Wash', sale.wash ? 'yes' : 'no')}
${row('Rules', `version ${sale.rules}`)}
</dl>${hasJson && html`<p class="faint">The same as JSON: request this address with <code>Accept: application/json</code>.</p>`}</details>`;
}
