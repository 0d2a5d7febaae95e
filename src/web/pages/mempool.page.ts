import { grouped, groupedDecimal, plural, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { choicesNav, type ListChoice } from '#web/parts/choices.ts';
import { fact, feeRateWords, type Known, satsWords, unknownWords } from '#web/parts/facts.ts';
import { runeName } from '#web/parts/held-runes.ts';
import { transactionLink } from '#web/parts/identifiers.ts';
import { type PendingCard, pendingCardList } from '#web/parts/pending-cards.ts';
import { type SaleLine, saleRows } from '#web/parts/sale-rows.ts';
import { runeSymbol } from '#web/parts/strangers-text.ts';

/** A change of a rune by a pending transaction. */
export interface PendingRuneLine {
  readonly kind: 'etched' | 'minted' | 'moved' | 'burned';
  /** `null` if the block will assign the name, or if another pending transaction etches the rune. */
  readonly name: string | null;
  /** Whether the rune is already in a block, and so has a page. */
  readonly isEtched: boolean;
  /** Amount in units of the rune. */
  readonly amount: string;
  readonly symbol: string | null;
  /**
   * The reason why the next block would not accept the etching, or why the amount is not in units of the rune. `null`
   * if there is no such reason.
   */
  readonly problem: string | null;
  readonly txid: string;
  /** Time of arrival in Unix seconds. */
  readonly seen: number;
  /** Fee in sats. `null` if unknown. */
  readonly fee: number | null;
  readonly vsize: number;
}

export const mempoolTabs = ['inscriptions', 'sales', 'runes'] as const;
export type MempoolTab = (typeof mempoolTabs)[number];

export type MempoolTabView = {
  /** The link to older rows. `null` if there are no older rows. */
  readonly next: string | null;
} & (
  | {
      readonly tab: 'inscriptions';
      readonly kinds: readonly ListChoice[];
      readonly cards: readonly PendingCard[];
    }
  | { readonly tab: 'sales'; readonly sales: Known<readonly SaleLine[]> }
  | { readonly tab: 'runes'; readonly runes: Known<readonly PendingRuneLine[]> }
);

export interface MempoolView {
  readonly site: Site;
  /** `null` if this server has never followed a mempool. */
  readonly state: {
    readonly isFollowed: boolean;
    /** The state in words. If the mempool is not followed, also the reason. */
    readonly words: string;
    readonly since: number;
    readonly kept: number;
    readonly leftOut: number;
  } | null;
  /** The complete mempool of the node. `null` if unknown. */
  readonly whole: { readonly transactions: number; readonly vsize: number; readonly fees: number } | null;
  /** Fee rates by the node's estimates, in sat/vB. `null` if unknown. */
  readonly fees: readonly { readonly words: string; readonly rate: number }[] | null;
  /** Number of pending inscriptions that the next blocks would contain, in words. `null` if unknown. */
  readonly outlook: string | null;
  readonly shown: MempoolTabView;
  /** Whether the list has newer rows before these rows. */
  readonly isLater: boolean;
}

/** Virtual size of a full block (4,000,000 weight units), in vB. */
const blockVsize = 1_000_000;

/** The page of the mempool: everything that waits for a block. */
export function mempoolPage(view: MempoolView): Markup {
  const { site, state, whole, fees, outlook, shown } = view;
  return layout({
    title: 'Mempool · Satscribe',
    description:
      'Inscriptions, sales and runes that wait for a block, and the fee rates that the next blocks need.',
    site,
    main: html`<section>
<h1>Mempool</h1>
<dl class="pairs">
${fact('State', state === null ? unknownWords('no mempool is followed here') : html`<span class="chip${state.isFollowed ? ' yes' : ' part'}">${state.words}</span>, since ${timeWords(state.since)}`)}
${fact('Transactions', whole === null ? unknownWords('the node does not answer') : html`${grouped(whole.transactions)}, ${grouped(whole.vsize)} vbytes, about ${plural(Math.ceil(whole.vsize / blockVsize), 'block')}`)}
${whole !== null && fact('Their fees', satsWords(whole.fees))}
${state !== null && fact('Kept here', `${plural(state.kept, 'transaction')} with inscriptions, sales or runes${state.leftOut === 0 ? '' : `; ${grouped(state.leftOut)} left out because there was no room`}`)}
${outlook !== null && fact('Next block', outlook)}
${fees === null ? fact('Fee rates', unknownWords('there is no node to estimate them')) : fees.map(({ words, rate }) => fact(words, `${grouped(rate)} sat/vB`))}
</dl>
</section>
<section>
<nav class="tabs" aria-label="Parts of the mempool">${mempoolTabs.map((tab) => tabLink(tab, shown.tab))}</nav>
<h2>${headings[shown.tab]} <span class="faint">newest first</span></h2>
${tabBody(view)}
${steps(view)}
</section>
<p class="tools"><a href="/mempool/departures">Transactions that left without a block, as JSON</a></p>`,
  });
}

const headings = {
  inscriptions: 'Pending inscriptions',
  sales: 'Pending sales',
  runes: 'Pending runes',
} as const;
const labels = { inscriptions: 'Inscriptions', sales: 'Sales', runes: 'Runes' } as const;

const hrefOf = (tab: MempoolTab): string => (tab === 'inscriptions' ? '/mempool' : `/mempool?tab=${tab}`);

const tabLink = (tab: MempoolTab, current: MempoolTab): Markup =>
  html`<a href="${hrefOf(tab)}"${tab === current && html` aria-current="page"`}>${labels[tab]}</a> `;

function steps({ shown, isLater }: MempoolView): HtmlValue {
  const { tab, next } = shown;
  if (!isLater && next === null) return null;
  const kind = shown.tab === 'inscriptions' ? shown.kinds.find(({ isCurrent }) => isCurrent) : undefined;
  return html`<p class="steps"><span>${isLater && html`<a href="${kind?.href ?? hrefOf(tab)}" rel="first">« Newest</a>`}</span><span>${next !== null && html`<a href="${next}" rel="next">Older ›</a>`}</span></p>`;
}

function tabBody({ shown, state, isLater }: MempoolView): HtmlValue {
  const none = (words: string): Markup => {
    if (state?.isFollowed !== true) return html`<p>${unknownWords('no mempool is being followed here')}</p>`;
    return html`<p class="empty">${isLater ? 'There is nothing on this page.' : words}</p>`;
  };
  switch (shown.tab) {
    case 'inscriptions': {
      const { kinds, cards, next } = shown;
      const isOfAll = kinds.every(({ isCurrent }, place) => isCurrent === (place === 0));
      const words = isOfAll
        ? 'No inscription waits for a block.'
        : next === null
          ? 'No inscription of that kind waits for a block.'
          : 'No match among the inscriptions checked so far. Later ones may match.';
      return [choicesNav('Kinds', kinds, true), cards.length > 0 ? pendingCardList(cards) : none(words)];
    }
    case 'sales':
      return knownRows(shown.sales, (sales) => saleRows(sales, 'Seen'), none('No sale waits for a block.'));
    case 'runes':
      return knownRows(shown.runes, runeRows, none('No etching, mint or move of runes waits for a block.'));
  }
}

function knownRows<Row>(
  rows: Known<readonly Row[]>,
  table: (rows: readonly Row[]) => Markup,
  none: Markup,
): Markup {
  if ('unknown' in rows) return html`<p>${unknownWords(rows.unknown)}</p>`;
  return rows.known.length > 0 ? table(rows.known) : none;
}

function runeRows(lines: readonly PendingRuneLine[]): Markup {
  return html`<div class="scroll"><table class="rows stacked">
<thead><tr><th scope="col">Rune</th><th scope="col">What</th><th scope="col" class="num">Amount</th><th scope="col">Transaction</th><th scope="col">Seen</th><th scope="col" class="num">Fee rate</th></tr></thead>
<tbody>
${lines.map(runeRow)}
</tbody>
</table></div>`;
}

const kindWords = {
  etched: 'etched, with a premine of',
  minted: 'minted',
  moved: 'moved',
  burned: 'burned',
} as const;

function runeRow({
  kind,
  amount,
  symbol,
  problem,
  txid,
  seen,
  fee,
  vsize,
  ...rune
}: PendingRuneLine): Markup {
  return html`<tr>
  <th scope="row" data-label="Rune">${runeName(rune)}</th>
  <td data-label="What"><span>${kindWords[kind]}${problem !== null && html` <span class="chip part">${problem}</span>`}</span></td>
  <td class="num" data-label="Amount"><span>${groupedDecimal(amount)} ${runeSymbol(symbol)}</span></td>
  <td data-label="Transaction">${transactionLink(txid)}</td>
  <td class="nowrap" data-label="Seen">${timeWords(seen)}</td>
  <td class="num" data-label="Fee rate">${fee === null ? unknownWords(null) : feeRateWords(fee, vsize)}</td>
</tr>
`;
}
