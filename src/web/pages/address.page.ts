import { grouped, plural, shortHash } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type AddressSalesView, addressSales } from '#web/parts/address-sales.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { type HoldingsView, holdingsWords } from '#web/parts/chain-outputs.ts';
import { type BoundedCount, fact, feeRateWords, satsWords, unknownWords } from '#web/parts/facts.ts';
import { type HeldRune, heldRunesTable } from '#web/parts/held-runes.ts';
import {
  addressLink,
  copyButton,
  heightLink,
  inscriptionLink,
  outputLink,
  transactionLink,
} from '#web/parts/identifiers.ts';
import { type PendingCard, pendingCardList } from '#web/parts/pending-cards.ts';
import { watchLink } from '#web/parts/watch-link.ts';

/** An unspent output, and its contents. */
export interface OwnedOutput {
  readonly outpoint: string;
  readonly value: number;
  readonly height: number;
  readonly holds: HoldingsView;
}

/** An inscription that a transaction in the mempool moves to or from the address. */
export interface PendingMoveLine {
  readonly inscription: { readonly id: string; readonly number: null };
  readonly txid: string;
  /** `null` if the script has no address, or if its owner is unknown. */
  readonly from: string | null;
  readonly to: string | null;
  /** Fee in sats. `null` if unknown. */
  readonly fee: number | null;
  readonly vsize: number;
}

/** A rune that transactions in the mempool would move to or from the address. */
export interface PendingRuneLine {
  readonly rune: HeldRune;
  readonly sent: string;
}

export type AddressTabView =
  | { readonly tab: 'inscriptions'; readonly cards: readonly Card[] }
  /** `null` if runes are unknown. */
  | { readonly tab: 'runes'; readonly runes: readonly HeldRune[] | null }
  | { readonly tab: 'outputs'; readonly outputs: readonly OwnedOutput[] | null }
  | {
      readonly tab: 'pending';
      readonly isFollowed: boolean;
      readonly cards: readonly PendingCard[];
      readonly moves: readonly PendingMoveLine[];
      readonly runes: readonly PendingRuneLine[];
    }
  | { readonly tab: 'sold' | 'bought'; readonly sales: AddressSalesView };

export const addressTabs = ['inscriptions', 'runes', 'outputs', 'pending', 'sold', 'bought'] as const;
const labels = {
  inscriptions: 'Inscriptions',
  runes: 'Runes',
  outputs: 'Outputs',
  pending: 'Pending',
  sold: 'Sold',
  bought: 'Bought',
} as const;

export interface AddressView {
  readonly site: Site;
  readonly address: string;
  /** `null` if the index of owners is being built. */
  readonly inscriptions: BoundedCount | null;
  /** `null` if runes are unknown. */
  readonly runes: BoundedCount | null;
  /** `null` if there is no index of addresses. */
  readonly outputs: (BoundedCount & { readonly sats: number }) | null;
  /** The reason why inscriptions may be missing. `null` if they are complete. */
  readonly gap: string | null;
  readonly shown: AddressTabView;
  /** Whether the list has rows before these rows. */
  readonly isLater: boolean;
  /** The cursor of the next page. `null` if this is the last page. */
  readonly next: string | null;
}

/** The page of an address: its totals, and its contents in tabs. */
export function addressPage(view: AddressView): Markup {
  const { site, address, inscriptions, runes, outputs, gap, shown, isLater, next } = view;
  const path = `/address/${address}`;
  const after = (place: string): string =>
    `${path}?${new URLSearchParams({ tab: shown.tab, after: place }).toString()}`;
  return layout({
    title: `Address ${shortHash(address)} · Satscribe`,
    description: `The inscriptions, runes, unspent outputs and sales of the Bitcoin address ${address}.`,
    site,
    main: html`<section>
<h1>Address</h1>
<p><span class="mono wrap">${address}</span> ${copyButton(address)}</p>
<dl class="pairs">
${fact('Inscriptions', inscriptions === null ? unknownWords('the index of owners is still being built') : countWords(inscriptions))}
${fact('Runes', runes === null ? unknownWords('they are not indexed here') : countWords(runes))}
${fact('Unspent outputs', outputs === null ? unknownWords('addresses are not indexed here') : countWords(outputs))}
${fact('Value', valueWords(outputs))}
</dl>
${gap !== null && html`<p class="faint">${gap}</p>`}
</section>
<section>
<nav class="tabs" aria-label="Parts of this address">${addressTabs.map(
      (tab) =>
        html`<a href="${path}?tab=${tab}"${tab === shown.tab && html` aria-current="page"`}>${labels[tab]}</a> `,
    )}</nav>
<h2>${labels[shown.tab]}</h2>
${tabBody(shown, isLater)}
${(isLater || next !== null) && html`<p class="steps">${isLater && html`<a href="${path}?tab=${shown.tab}" rel="first">« First</a> `}${next !== null && html`<a href="${after(next)}" rel="next">Next ›</a>`}</p>`}
</section>
<p class="tools">${watchLink({ kind: 'receipts', address }, 'Watch its receipts')} ${watchLink({ kind: 'sales', address }, 'Watch its sales and purchases')} <a href="/market/activity">Sales of the whole market</a></p>`,
  });
}

const countWords = ({ count, isLeast }: BoundedCount): string =>
  isLeast ? `more than ${grouped(count)}` : grouped(count);

function valueWords(outputs: AddressView['outputs']): HtmlValue {
  if (outputs === null) return unknownWords('addresses are not indexed here');
  return outputs.isLeast
    ? unknownWords(`more than ${plural(outputs.count, 'output')} are not summed`)
    : satsWords(outputs.sats);
}

function tabBody(shown: AddressTabView, isLater: boolean): HtmlValue {
  const empty = (words: string): Markup =>
    html`<p class="empty">${isLater ? 'There is nothing on this page.' : words}</p>`;
  switch (shown.tab) {
    case 'inscriptions':
      return shown.cards.length > 0 ? cardList(shown.cards) : empty('This address has no inscriptions.');
    case 'runes':
      if (shown.runes === null) return html`<p>${unknownWords('runes are not indexed here')}</p>`;
      return heldRunesTable(shown.runes) ?? empty('This address has no runes.');
    case 'outputs':
      if (shown.outputs === null)
        return html`<p>${unknownWords('addresses are not indexed here; outputs with inscriptions are in the tab of inscriptions')}</p>`;
      return shown.outputs.length > 0
        ? outputRows(shown.outputs)
        : empty('This address has no unspent outputs.');
    case 'pending':
      return pendingBody(shown, empty);
    case 'sold':
    case 'bought':
      return addressSales(shown.sales, empty);
  }
}

function outputRows(outputs: readonly OwnedOutput[]): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Output</th><th scope="col" class="num">Value</th><th scope="col">Holds</th><th scope="col">Block</th></tr></thead>
<tbody>
${outputs.map(
  ({ outpoint, value, height, holds }) => html`<tr>
  <th scope="row" data-label="Output">${outputLink(outpoint)}</th>
  <td class="num" data-label="Value">${satsWords(value)}</td>
  <td data-label="Holds">${holdingsWords(holds)}</td>
  <td data-label="Block">${heightLink(height)}</td>
</tr>
`,
)}
</tbody>
</table></div>`;
}

function pendingBody(
  { isFollowed, cards, moves, runes }: Extract<AddressTabView, { tab: 'pending' }>,
  empty: (words: string) => Markup,
): HtmlValue {
  if (!isFollowed) return html`<p>${unknownWords('no mempool is being followed here')}</p>`;
  if (cards.length + moves.length + runes.length === 0)
    return empty('Nothing in the mempool concerns this address.');
  return [
    cards.length > 0 && html`<h3>Inscribed to this address</h3>${pendingCardList(cards)}`,
    moves.length > 0 && html`<h3>Moving inscriptions</h3>${moveRows(moves)}`,
    runes.length > 0 && html`<h3>Moving runes</h3>${runeRows(runes)}`,
  ];
}

function moveRows(moves: readonly PendingMoveLine[]): Markup {
  const party = (address: string | null): HtmlValue =>
    address === null ? unknownWords(null) : addressLink(address);
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Inscription</th><th scope="col">From</th><th scope="col">To</th><th scope="col">Transaction</th><th scope="col" class="num">Fee rate</th></tr></thead>
<tbody>
${moves.map(
  ({ inscription, txid, from, to, fee, vsize }) => html`<tr>
  <th scope="row" data-label="Inscription">${inscriptionLink(inscription)}</th>
  <td data-label="From">${party(from)}</td>
  <td data-label="To">${party(to)}</td>
  <td data-label="Transaction">${transactionLink(txid)}</td>
  <td class="num" data-label="Fee rate">${fee === null ? unknownWords(null) : feeRateWords(fee, vsize)}</td>
</tr>
`,
)}
</tbody>
</table></div>`;
}

function runeRows(runes: readonly PendingRuneLine[]): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Rune</th><th scope="col" class="num">Arrives</th><th scope="col" class="num">Leaves</th></tr></thead>
<tbody>
${runes.map(
  ({ rune, sent }) => html`<tr>
  <th scope="row" data-label="Rune"><a class="wrap" href="/rune/${encodeURIComponent(rune.name)}">${rune.name}</a></th>
  <td class="num" data-label="Arrives">${rune.amount}</td>
  <td class="num" data-label="Leaves">${sent}</td>
</tr>
`,
)}
</tbody>
</table></div>`;
}
