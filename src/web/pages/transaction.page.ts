import type { Height } from '#kernel/primitives/height.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { grouped, groupedDecimal, plural, shortHash, sizeWords, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import {
  type HoldingsView,
  holdingsWords,
  type OutputLine,
  outputsTable,
  ownerWords,
} from '#web/parts/chain-outputs.ts';
import { fact, feeRateWords, satsWords, unknownWords } from '#web/parts/facts.ts';
import { runeName } from '#web/parts/held-runes.ts';
import {
  addressLink,
  heightLink,
  inscriptionLink,
  outputLink,
  transactionLink,
} from '#web/parts/identifiers.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';
import { type PendingCard, pendingCardList } from '#web/parts/pending-cards.ts';
import { runeSymbol } from '#web/parts/strangers-text.ts';

/** An output that a transaction spends. */
export interface InputLine {
  /** The spent output. `null` if the input is the coinbase's, which has new coins and the fees of the block. */
  readonly outpoint: string | null;
  /** Null: unknown. */
  readonly value: number | null;
  readonly address: string | null;
  /** The type of the script, in words. `null` if unknown. */
  readonly script: string | null;
  readonly holds: HoldingsView;
}

/** An inscription that the transaction moved. */
export interface MovedLine {
  readonly inscription: { readonly id: string; readonly number: number | null };
  /** `null` if the inscription came from the fee of the transaction that revealed it. */
  readonly from: string | null;
  /** `null` if the inscription went into the fee. */
  readonly to: string | null;
}

export interface SoldLine {
  readonly inscription: { readonly id: string; readonly number: number | null };
  readonly price: number;
  /** Seller's address. `null` if the script has no address. */
  readonly maker: string | null;
  readonly taker: string | null;
}

/** A change of a rune by this transaction. */
export interface RuneLine {
  readonly kind: 'etched' | 'minted' | 'sent' | 'received' | 'burned';
  /** `null` if a pending transaction etches the rune, and its block will assign the name. */
  readonly name: string | null;
  /** Whether a block has etched the rune. If true, the rune has a page. */
  readonly isEtched: boolean;
  /** Amount in units of the rune. */
  readonly amount: string;
  readonly symbol: string | null;
  readonly outpoint: string | null;
}

export type TransactionStanding =
  | {
      readonly kind: 'block';
      readonly height: Height;
      readonly time: number;
      readonly isIndexed: boolean;
      readonly index: number | null;
    }
  | {
      readonly kind: 'pending';
      /** `null` if the node does not know the transaction. */
      readonly firstSeen: number | null;
      readonly replaces: readonly string[];
      /** The expected wait at the transaction's fee rate, in words. `null` if unknown. */
      readonly outlook: string | null;
      /**
       * Numbers of unconfirmed transactions that this transaction depends on (ancestors) and that depend on this
       * transaction (descendants). `null` if unknown.
       */
      readonly family: { readonly ancestors: number; readonly descendants: number } | null;
    }
  | { readonly kind: 'gone'; readonly reason: 'replaced' | 'evicted'; readonly by: string | null }
  | { readonly kind: 'unknown' };

/** Lines of a list. `isAll` is false if there are more lines. `unknown` is the reason why lines are unknown. */
export interface ListOf<Line> {
  readonly lines: readonly Line[];
  readonly isAll: boolean;
  readonly unknown: string | null;
}

export interface TransactionView {
  readonly site: Site;
  readonly txid: string;
  readonly standing: TransactionStanding;
  /** The reason why the transaction's bytes are unknown. `null` if the bytes are known. */
  readonly why: string | null;
  readonly sizes: { readonly bytes: number; readonly weight: number } | null;
  readonly vsize: number | null;
  /** Fee in sats. `null` if unknown, or if the transaction is a coinbase. */
  readonly fee: number | null;
  readonly isCoinbase: boolean;
  /** Null: unknown. */
  readonly inputs: { readonly lines: readonly InputLine[]; readonly total: number } | null;
  readonly outputs: { readonly lines: readonly OutputLine[]; readonly total: number } | null;
  /** The page number of the lists of inputs and outputs. */
  readonly page: number;
  readonly totalPages: number;
  readonly revealed: readonly Card[];
  readonly pendingReveals: readonly PendingCard[];
  readonly isAllRevealed: boolean;
  readonly moved: ListOf<MovedLine>;
  readonly sold: ListOf<SoldLine>;
  readonly runes: ListOf<RuneLine>;
}

export function transactionPage(view: TransactionView): Markup {
  const { site, txid, standing, inputs, outputs, page, totalPages } = view;
  return layout({
    title: `Transaction ${shortHash(txid)} · Satscribe`,
    description: `Bitcoin transaction ${txid}: its inputs, outputs, fee, inscriptions, sales and runes.`,
    site,
    main: html`<section>
<h1>Transaction</h1>
<p>${transactionLink(txid, { isWhole: true })}</p>
<dl class="pairs">
${standingFacts(standing)}
${view.isCoinbase ? fact('Fee', 'none: it pays the miner of its block') : fact('Fee', feeWords(view))}
${fact('Size', sizeFacts(view))}
</dl>
${view.why !== null && html`<p class="faint">Its inputs and outputs are unknown here: ${view.why}.</p>`}
</section>
${revealedSection(view)}
${soldSection(view.sold, txid)}
${movedSection(view.moved)}
${runesSection(view.runes)}
${inputs !== null && inputsSection(inputs)}
${outputs !== null && outputsSection(outputs)}
${pagesNav({ path: `/tx/${txid}`, parameters: {}, page, totalPages })}
<p class="tools"><a href="/decode/${txid}">Envelopes and runestone, as JSON</a> <a href="/r/tx/${txid}">Its bytes, as hex in JSON</a></p>`,
  });
}

function standingFacts(standing: TransactionStanding): HtmlValue {
  switch (standing.kind) {
    case 'block': {
      const { height, time, isIndexed, index } = standing;
      const place = index === null ? '' : `, transaction ${grouped(index)} there`;
      const note = isIndexed ? '' : '. This block is not indexed here: it is known from the node';
      return fact('Block', html`${heightLink(height)}, ${timeWords(time)}${place}${note}`);
    }
    case 'pending':
      return pendingFacts(standing);
    case 'gone':
      return fact(
        'State',
        html`<span class="chip">left the mempool</span> ${standing.reason === 'replaced' ? 'another transaction replaced it' : 'nodes dropped it'}${standing.by !== null && html`: ${transactionLink(standing.by)}`}`,
      );
    case 'unknown':
      return fact('State', unknownWords('it is neither in an indexed block nor in the mempool'));
    default:
      return unreachable(standing);
  }
}

function pendingFacts({
  firstSeen,
  replaces,
  outlook,
  family,
}: Extract<TransactionStanding, { kind: 'pending' }>): HtmlValue {
  const seen = firstSeen === null ? '' : `, seen ${timeWords(firstSeen)}`;
  return [
    fact('State', html`<span class="chip part">waits in the mempool</span>${seen}`),
    outlook !== null && fact('Expected wait', outlook),
    family !== null && fact('Related', familyWords(family)),
    replaces.length > 0 &&
      fact(
        'Replaces',
        replaces.map((txid) => html`${transactionLink(txid)} `),
      ),
  ];
}

function familyWords({ ancestors, descendants }: { ancestors: number; descendants: number }): string {
  if (ancestors === 0 && descendants === 0) return 'no other unconfirmed transaction';
  return `needs ${plural(ancestors, 'unconfirmed transaction')}; ${grouped(descendants)} need it`;
}

function feeWords({ fee, vsize }: TransactionView): HtmlValue {
  if (fee === null) return unknownWords('the values of its inputs are unknown here');
  return html`${satsWords(fee)}${vsize !== null && html`, ${feeRateWords(fee, vsize)}`}`;
}

function sizeFacts({ sizes, vsize }: TransactionView): HtmlValue {
  if (sizes === null)
    return vsize === null ? unknownWords('its bytes are not here') : `${grouped(vsize)} vbytes`;
  const { bytes, weight } = sizes;
  return `${sizeWords(bytes)}, ${grouped(Math.ceil(weight / 4))} vbytes, ${grouped(weight)} weight units`;
}

function revealedSection({ revealed, pendingReveals, isAllRevealed }: TransactionView): HtmlValue {
  const count = revealed.length + pendingReveals.length;
  if (count === 0) return null;
  return html`<section><h2>Inscribed here <span class="faint">${isAllRevealed ? grouped(count) : `the first ${grouped(count)}`}</span></h2>
${revealed.length > 0 ? cardList(revealed) : pendingCardList(pendingReveals)}</section>`;
}

/** A heading with rows below it, or with the reason why rows are unknown. Empty if there are no rows. */
function listSection<Line>(
  title: string,
  { lines, isAll, unknown }: ListOf<Line>,
  table: (lines: readonly Line[]) => Markup,
): HtmlValue {
  if (unknown !== null) return html`<section><h2>${title}</h2><p>${unknownWords(unknown)}</p></section>`;
  if (lines.length === 0) return null;
  const words = isAll ? grouped(lines.length) : `the first ${grouped(lines.length)}`;
  return html`<section><h2>${title} <span class="faint">${words}</span></h2>${table(lines)}</section>`;
}

function soldSection(sold: ListOf<SoldLine>, txid: string): HtmlValue {
  return listSection(
    'Sold here',
    sold,
    (lines) => html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Inscription</th><th scope="col" class="num">Price</th><th scope="col">Seller</th><th scope="col">Buyer</th></tr></thead>
<tbody>
${lines.map(
  ({ inscription, price, maker, taker }) => html`<tr>
  <th scope="row" data-label="Inscription">${inscriptionLink(inscription)}</th>
  <td class="num" data-label="Price">${satsWords(price)}</td>
  <td data-label="Seller">${party(maker)}</td>
  <td data-label="Buyer">${party(taker)}</td>
</tr>
`,
)}
</tbody>
</table></div>
<p class="more"><a href="/sale/${txid}">The evidence of each sale</a></p>`,
  );
}

const party = (address: string | null): Markup =>
  address === null ? html`<span class="faint">no address</span>` : addressLink(address);

function movedSection(moved: ListOf<MovedLine>): HtmlValue {
  return listSection(
    'Moved here',
    moved,
    (lines) => html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Inscription</th><th scope="col">From output</th><th scope="col">To output</th></tr></thead>
<tbody>
${lines.map(
  ({ inscription, from, to }) => html`<tr>
  <th scope="row" data-label="Inscription">${inscriptionLink(inscription)}</th>
  <td data-label="From">${from === null ? 'the fee of its reveal' : outputLink(from)}</td>
  <td data-label="To">${to === null ? 'into the fee' : outputLink(to)}</td>
</tr>
`,
)}
</tbody>
</table></div>`,
  );
}

const runeWords: Readonly<Record<RuneLine['kind'], string>> = {
  etched: 'etched, with a premine of',
  minted: 'minted',
  sent: 'spent',
  received: 'paid to an output',
  burned: 'burned',
};

function runesSection(runes: ListOf<RuneLine>): HtmlValue {
  return listSection(
    'Runes',
    runes,
    (lines) => html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Rune</th><th scope="col">What</th><th scope="col" class="num">Amount</th><th scope="col">Output</th></tr></thead>
<tbody>
${lines.map(
  ({ kind, amount, symbol, outpoint, ...rune }) => html`<tr>
  <th scope="row" data-label="Rune">${runeName(rune)}</th>
  <td data-label="What">${runeWords[kind]}</td>
  <td class="num" data-label="Amount">${groupedDecimal(amount)} ${runeSymbol(symbol)}</td>
  <td data-label="Output">${outpoint === null ? html`<span class="faint">none</span>` : outputLink(outpoint)}</td>
</tr>
`,
)}
</tbody>
</table></div>`,
  );
}

function inputsSection({ lines, total }: NonNullable<TransactionView['inputs']>): Markup {
  return html`<section><h2>Inputs <span class="faint">${grouped(total)}</span></h2>
${
  lines.length === 0
    ? html`<p class="empty">No inputs on this page of the list.</p>`
    : html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Spends</th><th scope="col">Owner</th><th scope="col" class="num">Value</th><th scope="col">Contents</th></tr></thead>
<tbody>
${lines.map(inputRow)}
</tbody>
</table></div>`
}</section>`;
}

function inputRow({ outpoint, value, address, script, holds }: InputLine): Markup {
  return html`<tr>
  <th scope="row" data-label="Spends">${outpoint === null ? 'new coins and fees' : outputLink(outpoint)}</th>
  <td data-label="Of">${ownerWords({ address, script })}</td>
  <td class="num" data-label="Value">${value === null ? unknownWords(null) : satsWords(value)}</td>
  <td data-label="Held">${holdingsWords(holds)}</td>
</tr>
`;
}

function outputsSection({ lines, total }: NonNullable<TransactionView['outputs']>): Markup {
  return html`<section><h2>Outputs <span class="faint">${grouped(total)}</span></h2>
${lines.length === 0 ? html`<p class="empty">No outputs on this page of the list.</p>` : outputsTable(lines)}</section>`;
}
