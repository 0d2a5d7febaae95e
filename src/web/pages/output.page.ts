import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural, shortHash, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { ownerWords, type SpentState, spentWords } from '#web/parts/chain-outputs.ts';
import { fact, satsWords, unknownWords } from '#web/parts/facts.ts';
import { type HeldRune, runeHref } from '#web/parts/held-runes.ts';
import { heightLink, outputLink, satLink, transactionLink } from '#web/parts/identifiers.ts';
import { type PendingCard, pendingCardList } from '#web/parts/pending-cards.ts';
import type { SatributeName } from '#web/parts/satribute-chips.ts';
import { runeSymbol, strangersName } from '#web/parts/strangers-text.ts';

/** A range of consecutive sats, by their numbers. */
export interface RangeLine {
  readonly start: number;
  /** The number of the first sat after the range. */
  readonly end: number;
  readonly satributes: readonly SatributeName[];
}

export interface OutputView {
  readonly site: Site;
  readonly outpoint: string;
  /** `lost` and `unbound` are not real outputs. Ord uses these names for inscriptions that are in no output. */
  readonly kind: 'output' | 'lost' | 'unbound';
  /** Value in sats. `null` if unknown. */
  readonly value: number | null;
  readonly address: string | null;
  readonly script: string | null;
  readonly spent: SpentState;
  readonly block: { readonly height: Height; readonly time: number } | null;
  /** Whether the output's transaction is in the mempool. */
  readonly isPending: boolean;
  readonly cards: readonly Card[];
  readonly pendingCards: readonly PendingCard[];
  /** Null: unknown. */
  readonly inscriptionCount: number | null;
  /** Null: unknown. */
  readonly runes: readonly HeldRune[] | null;
  readonly isAllRunes: boolean;
  /**
   * `null` if there is no index of sats, if the output is spent, or if the output has more ranges than a page shows.
   */
  readonly ranges: readonly RangeLine[] | null;
  readonly rangeCount: number;
  /** The facts that are unknown, in words. `null` if all facts are known. */
  readonly why: string | null;
}

const titles = {
  output: 'Output',
  lost: 'Inscriptions that were lost in fees',
  unbound: 'Inscriptions on no sat',
} as const;

/** The page of an output of a transaction. */
export function outputPage(view: OutputView): Markup {
  const { site, outpoint, kind, why } = view;
  const [txid = '', index = ''] = outpoint.split(':');
  return layout({
    title: `Output ${shortHash(txid)}:${index} · Satscribe`,
    description: `Bitcoin output ${outpoint}: its value, its owner, and the inscriptions, runes and sats in it.`,
    site,
    main: html`<section>
<h1>${titles[kind]}</h1>
<p>${outputLink(outpoint, { isWhole: true })}</p>
${kind === 'output' ? html`<dl class="pairs">${outputFacts(view, txid)}</dl>` : html`<p>This is not a real output: ord lists such inscriptions under this name.</p>`}
${why !== null && html`<p class="faint">Some facts are unknown here: ${why}.</p>`}
</section>
${inscriptionsSection(view)}
${runesSection(view)}
${rangesSection(view)}
${kind === 'output' && html`<p class="tools"><a href="/r/utxo/${outpoint}">Its contents, as JSON</a></p>`}`,
  });
}

function outputFacts({ value, spent, block, isPending, ...owner }: OutputView, txid: string): HtmlValue {
  return [
    fact('Value', value === null ? unknownWords(null) : satsWords(value)),
    fact('Address', ownerWords(owner, true)),
    owner.script !== null && fact('Script', owner.script),
    fact('State', spentWords(spent)),
    fact('Transaction', transactionLink(txid, { isWhole: true })),
    fact('Block', blockWords(block, isPending)),
  ];
}

function blockWords(block: OutputView['block'], isPending: boolean): HtmlValue {
  if (block !== null) return html`${heightLink(block.height)}, ${timeWords(block.time)}`;
  return isPending ? html`<span class="chip part">waits in the mempool</span>` : unknownWords(null);
}

function inscriptionsSection({ cards, pendingCards, inscriptionCount, spent, kind }: OutputView): HtmlValue {
  const isSpent = spent.kind === 'spent';
  const title = kind === 'output' && isSpent ? 'Inscriptions before it was spent' : 'Inscriptions';
  if (inscriptionCount === null)
    return html`<section><h2>${title}</h2><p>${unknownWords('its block is not indexed here')}</p></section>`;
  if (inscriptionCount === 0 && pendingCards.length === 0)
    return html`<section><h2>${title}</h2><p class="empty">It ${isSpent ? 'held' : 'holds'} no inscription.</p></section>`;
  const shown = cards.length + pendingCards.length;
  const words =
    inscriptionCount > shown ? `the first ${grouped(shown)} of ${grouped(inscriptionCount)}` : grouped(shown);
  return html`<section><h2>${title} <span class="faint">${words}</span></h2>
${cards.length > 0 && cardList(cards)}
${pendingCards.length > 0 && pendingCardList(pendingCards)}</section>`;
}

function runesSection({ runes, isAllRunes }: OutputView): HtmlValue {
  if (runes === null || runes.length === 0) return null;
  return html`<section><h2>Runes <span class="faint">${isAllRunes ? '' : 'the first '}${grouped(runes.length)}</span></h2>
<div class="scroll"><table class="rows">
<thead><tr><th scope="col">Rune</th><th scope="col" class="num">Amount</th></tr></thead>
<tbody>
${runes.map(
  ({
    name,
    amount,
    symbol,
  }) => html`<tr><th scope="row"><a class="wrap" href="${runeHref(name)}">${strangersName(name)}</a></th><td class="num">${amount} ${runeSymbol(symbol)}</td></tr>
`,
)}
</tbody>
</table></div></section>`;
}

function rangesSection({ ranges, rangeCount }: OutputView): HtmlValue {
  if (ranges === null || ranges.length === 0) return null;
  const words =
    rangeCount > ranges.length
      ? `the first ${grouped(ranges.length)} of ${plural(rangeCount, 'range')}`
      : plural(rangeCount, 'range');
  return html`<section><h2>Sats <span class="faint">${words}</span></h2>
<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">From sat</th><th scope="col">To sat</th><th scope="col" class="num">Sats</th><th scope="col">Satributes</th></tr></thead>
<tbody>
${ranges.map(
  ({ start, end, satributes }) => html`<tr>
  <th scope="row" data-label="From">${satLink(start)}</th>
  <td data-label="To">${satLink(end - 1)}</td>
  <td class="num" data-label="Sats">${grouped(end - start)}</td>
  <td data-label="Satributes">${satributes.length === 0 ? html`<span class="faint">none</span>` : html`<span>${satributes.map(({ id, title: words }) => html`<a class="chip" href="/satributes/${id}">${words}</a> `)}</span>`}</td>
</tr>
`,
)}
</tbody>
</table></div></section>`;
}
