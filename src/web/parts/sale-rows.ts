import { timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { price } from './amounts.ts';
import { addressLink } from './identifiers.ts';
import { strangersName } from './strangers-text.ts';
import { thumbnail } from './thumbnail.ts';

/** A sale in a list. */
export interface SaleLine {
  readonly inscriptionId: string;
  /** The item's name in its collection. */
  readonly name: string;
  /** `null` if the item is in no collection, or if all sales of the list are of one collection. */
  readonly collection: { readonly slug: string; readonly name: string } | null;
  readonly class: 'sale' | 'offer';
  /** Price in sats. */
  readonly price: number;
  /** Time of the sale's block, in Unix seconds. If the sale is pending, this is the time of its arrival. */
  readonly time: number;
  readonly txid: string;
  /**
   * Address of the seller. If the seller's script has no address, this is the script in hex, or `sha256:` and its hash.
   */
  readonly maker: string;
  /** `null` if the inscription went into the fee. */
  readonly taker: string | null;
  /** Whether the seller and the buyer are the same. */
  readonly wash: boolean;
}

/**
 * Sales with pictures of their items. The time of each sale links to the sale's page.
 *
 * @param timeWord the meaning of the time
 */
export function saleRows(sales: readonly SaleLine[], timeWord: 'Sold' | 'Seen' = 'Sold'): Markup {
  return html`<div class="scroll"><table class="rows stacked pictured">
<thead><tr><th scope="col">Item</th><th scope="col" class="num">Price</th><th scope="col">${timeWord}</th><th scope="col">Seller</th><th scope="col">Buyer</th></tr></thead>
<tbody>
${sales.map((sale) => saleRow(sale, timeWord))}
</tbody>
</table></div>`;
}

function saleRow(
  { inscriptionId, name, collection, time, txid, maker, taker, ...sale }: SaleLine,
  timeWord: string,
): Markup {
  return html`<tr>
  <th scope="row"><span class="named">${thumbnail(inscriptionId, 48)}<span><a href="/inscription/${inscriptionId}">${strangersName(name)}</a>${collection !== null && html`<br><a class="faint" href="/collection/${collection.slug}">${strangersName(collection.name)}</a>`}</span></span></th>
  <td class="num" data-label="Price"><span><b class="nowrap">${price(sale.price)}</b>${sale.class === 'offer' && html` <span class="chip">offer</span>`}${sale.wash && washChip}</span></td>
  <td data-label="${timeWord}"><a class="nowrap" href="/sale/${txid}">${timeWords(time)}</a></td>
  <td data-label="Seller">${party(maker)}</td>
  <td data-label="Buyer">${buyer(taker)}</td>
</tr>
`;
}

export const washChip: HtmlValue = html` <span class="chip" title="Seller and buyer are the same, or pay for each other: no sum includes it">wash</span>`;

/** The name of a seller or buyer. An address links to its page. A script without an address has no page. */
export const party = (text: string, isWhole = false): Markup =>
  isScript(text)
    ? html`<span class="mono${isWhole ? ' wrap' : ''}" title="${text}">${isWhole ? text : `${text.slice(0, 15)}…`}</span>`
    : addressLink(text, { isWhole });

export const buyer = (taker: string | null, isWhole = false): Markup =>
  taker === null
    ? html`<span class="faint">none: the inscription went into the fee</span>`
    : party(taker, isWhole);

const isScript = (text: string): boolean => /^(?:(?:[0-9a-f]{2})+|sha256:[0-9a-f]{64})$/u.test(text);
