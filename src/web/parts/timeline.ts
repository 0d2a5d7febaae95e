import type { Height } from '#kernel/primitives/height.ts';
import { plural, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { addressLink, heightLink, outputLink, transactionLink } from '#web/parts/identifiers.ts';

/** An event of an inscription. */
export interface TimelineEvent {
  readonly kind: 'reveal' | 'transfer' | 'sale' | 'burned' | 'lost' | 'unbound';
  readonly height: Height;
  /** Unix seconds of the block's header. */
  readonly time: number;
  /** `null` if a later transaction lost the inscription in its fees. */
  readonly txid: string | null;
  /** The previous owner: an address, or a name for a script without an address. `null` if the owner is unknown. */
  readonly from: Party | null;
  readonly to: Party | null;
  /** `null` if the event is not a sale. */
  readonly sale: { readonly price: number; readonly isWash: boolean } | null;
}

export interface Party {
  readonly text: string;
  readonly isAddress: boolean;
}

/** A sale that is not in a block yet. */
export interface PendingSaleView {
  /** Price in sats. */
  readonly price: number;
  /** `null` if the script has no address. A null taker can also mean that the inscription goes into the fee. */
  readonly makerAddress: string | null;
  readonly takerAddress: string | null;
  readonly txid: string;
}

const words: Readonly<Record<TimelineEvent['kind'], string>> = {
  reveal: 'Inscribed',
  transfer: 'Transferred',
  sale: 'Sold',
  burned: 'Burned',
  lost: 'Lost to fees',
  unbound: 'Inscribed on no sat',
};

/** Transfers and sales of an inscription, newest first. Pending sales are at the beginning. */
export function timeline(pending: readonly PendingSaleView[], events: readonly TimelineEvent[]): Markup {
  return html`<ol class="timeline">
${pending.map(pendingItem)}${events.map(eventItem)}</ol>`;
}

/**
 * A pending sale. Its buyer may still change, because another buyer can replace the transaction until it is in a block.
 */
function pendingItem({ price, makerAddress, takerAddress, txid }: PendingSaleView): Markup {
  const party = (address: string | null): Party | null =>
    address === null ? null : { text: address, isAddress: true };
  return html`<li><p><b>Being sold for ${plural(price, 'sat')}</b> <span class="faint">waits for a block</span></p>
<p class="faint">${parties(party(makerAddress), party(takerAddress))}in ${transactionLink(txid)}</p></li>
`;
}

function eventItem({ kind, height, time, txid, from, to, sale }: TimelineEvent): Markup {
  const what =
    sale === null ? words[kind] : html`<a href="/sale/${txid}">Sold for ${plural(sale.price, 'sat')}</a>`;
  return html`<li><p><b>${what}</b>${sale?.isWash === true && html` <span class="chip part" title="between outputs of one party, as far as the chain shows">wash sale</span>`} <span class="faint">block ${heightLink(height)}, ${timeWords(time)}</span></p>
<p class="faint">${parties(from, to)}${txid === null ? 'in a later transaction of the same block' : html`in ${transactionLink(txid)}`}</p></li>
`;
}

function parties(from: Party | null, to: Party | null): HtmlValue {
  return html`${from !== null && html`from ${partyWords(from)} `}${to !== null && html`to ${partyWords(to)} `}`;
}

const partyWords = ({ text, isAddress }: Party): Markup =>
  isAddress ? addressLink(text) : html`<span class="mono wrap">${text}</span>`;

/** The satpoint of an inscription, with a link to its output. */
export function satpointLink(satpoint: string): Markup {
  const end = satpoint.lastIndexOf(':');
  return html`${outputLink(satpoint.slice(0, end))} <span class="faint">offset ${satpoint.slice(end + 1)}</span>`;
}
