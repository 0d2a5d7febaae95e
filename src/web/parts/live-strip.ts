import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';

/** The current state, as the home page shows it. Null fields are unknown. */
export interface LiveView {
  readonly block: { readonly height: Height; readonly time: number; readonly inscriptions: number } | null;
  /** `isMore` is true if there are more than `count`. `null` if no mempool is followed. */
  readonly pending: { readonly count: number; readonly isMore: boolean } | null;
  /** Newest sales first. `null` if sales are not indexed, or if the table of sales has not reached the last block. */
  readonly sales: readonly LiveSale[] | null;
  /** Fee rates in sats per virtual byte. `null` if there is no node, or if the node does not answer. */
  readonly fees: { readonly next: number; readonly hour: number; readonly day: number } | null;
}

export interface LiveSale {
  readonly inscriptionId: string;
  readonly number: number | null;
  readonly price: number;
  readonly txid: string;
}

/**
 * The newest block, pending inscriptions, the latest sales and fees. Unknown parts are also shown, so that nothing
 * below moves when their values arrive.
 */
export function liveStrip({ block, pending, sales, fees }: LiveView): Markup {
  return html`<dl class="now" data-live="strip">
${part('Newest block', block === null ? unknown('no block is indexed yet') : newestBlock(block))}
${part('Waiting for a block', pending === null ? unknown('the mempool is not followed here') : waiting(pending))}
${part('Latest sales', sales === null ? unknown('sales are not indexed here, or not yet for all blocks') : latest(sales))}
${part('Fees', fees === null ? unknown('the node does not answer, or there is no node here') : feeRates(fees))}
</dl>`;
}

const part = (name: string, value: HtmlValue): Markup => html`<div><dt>${name}</dt>${value}</div>`;

const unknown = (why: string): Markup => html`<dd>unknown</dd><dd class="faint">${why}</dd>`;

const newestBlock = ({ height, time, inscriptions }: NonNullable<LiveView['block']>): Markup =>
  html`<dd><a href="/block/${height}">${grouped(height)}</a></dd><dd class="faint">${plural(inscriptions, 'inscription')}, ${timeWords(time)}</dd>`;

const waiting = ({ count, isMore }: NonNullable<LiveView['pending']>): Markup =>
  html`<dd><a href="/mempool">${isMore && 'more than '}${plural(count, 'inscription')}</a></dd><dd class="faint">in the mempool</dd>`;

function latest(sales: readonly LiveSale[]): HtmlValue {
  if (sales.length === 0) return html`<dd>none yet</dd>`;
  return sales.map(
    ({ inscriptionId, number, price, txid }) =>
      html`<dd class="sale"><a href="/inscription/${inscriptionId}">${number === null ? html`<span class="mono">${inscriptionId.slice(0, 8)}…</span>` : `#${grouped(number)}`}</a> <a href="/sale/${txid}">${grouped(price)} sats</a></dd>`,
  );
}

const feeRates = ({ next, hour, day }: NonNullable<LiveView['fees']>): Markup =>
  html`<dd>${grouped(next)} sat/vB</dd><dd class="faint">next block; ${grouped(hour)} within an hour, ${grouped(day)} within a day</dd>`;
