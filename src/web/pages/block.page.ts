import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural, sizeWords, timeWords } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { knownOf } from '#web/known.ts';
import { layout, type Site } from '#web/layout.ts';
import { price } from '#web/parts/amounts.ts';
import { type BlockLine, knownWords } from '#web/parts/blocks-table.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { choicesNav, type ListChoice } from '#web/parts/choices.ts';
import { type BoundedCount, fact, type Known, unknownWords } from '#web/parts/facts.ts';
import { copyButton } from '#web/parts/identifiers.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';
import { type RuneLine, runesTable } from '#web/parts/runes-table.ts';
import { type SaleLine, saleRows } from '#web/parts/sale-rows.ts';

/** The reward that a block pays to its miner, in sats. */
export interface BlockReward {
  readonly subsidy: number;
  /** Null: unknown. */
  readonly fees: number | null;
}

export const blockTabs = ['inscriptions', 'sales', 'runes'] as const;
export type BlockTab = (typeof blockTabs)[number];

/** The position in a list with numbered pages, from 1. */
export interface NumberedSteps {
  readonly page: number;
  readonly totalPages: number;
}

/** Links to pages of a list without page numbers. `null` if there is no such page. */
interface LinkedSteps {
  readonly first: string | null;
  readonly next: string | null;
}

export type BlockTabView =
  | {
      readonly tab: 'inscriptions';
      readonly kinds: readonly ListChoice[];
      readonly cards: readonly Card[];
      readonly steps: NumberedSteps | LinkedSteps;
    }
  | { readonly tab: 'sales'; readonly sales: Known<readonly SaleLine[]>; readonly steps: NumberedSteps }
  | { readonly tab: 'runes'; readonly runes: Known<readonly RuneLine[]>; readonly steps: NumberedSteps };

export interface BlockView {
  readonly site: Site;
  readonly block: BlockLine;
  /** Heights of the nearest indexed blocks before and after this block. `null` if there is no such block. */
  readonly previous: Height | null;
  readonly next: Height | null;
  readonly reward: BlockReward;
  /** Number of inscriptions that were sold in the block. */
  readonly sales: Known<BoundedCount>;
  /** Number of runes that were etched in the block. */
  readonly runes: Known<number>;
  readonly shown: BlockTabView;
}

/** The page of a block: its facts, and its inscriptions, sales and etchings. */
export function blockPage(view: BlockView): Markup {
  const { site, block, previous, next, reward, shown } = view;
  const steps = html`<p class="steps"><span>${previous !== null && html`<a href="/block/${previous}" rel="prev">‹ ${grouped(previous)}</a>${gapBetween(previous, block.height)}`}</span><span>${next !== null && html`${gapBetween(block.height, next)}<a href="/block/${next}" rel="next">${grouped(next)} ›</a>`}</span></p>`;
  return layout({
    title: `Block ${block.height} · Satscribe`,
    description: `Bitcoin block ${grouped(block.height)} of ${timeWords(block.time)}: ${countsWords(view)}.`,
    site,
    main: html`<section>
<h1>Block ${grouped(block.height)}</h1>
<p><span class="mono wrap">${block.hash}</span> ${copyButton(block.hash)}</p>
<dl class="pairs">
${fact('Height', html`<span class="copied">${grouped(block.height)}${copyButton(String(block.height))}</span>`)}
${fact('Time', timeWords(block.time))}
${fact('Transactions', `${grouped(block.txCount)}, ${sizeWords(block.sizeBytes)}`)}
${fact('Fees', reward.fees === null ? unknownWords('there is neither a node nor the spent outputs of the block') : price(reward.fees))}
${fact('Subsidy', price(reward.subsidy))}
${knownOf(block).unknown !== null && fact('Known', knownWords(block))}
</dl>
${steps}
</section>
<section>
<nav class="tabs" aria-label="Parts of this block">${blockTabs.map((tab) => tabLink(view, tab))}</nav>
<h2>${headings[shown.tab]}</h2>
${tabBody(view)}
${stepsOf(block.height, shown)}
${steps}
</section>
<p class="tools"><a href="/r/blockinfo/${block.height}">Header and fee rates, as JSON</a> <a href="/r/block/${block.height}">Its bytes, as hex in JSON</a></p>`,
  });
}

/** Says how many blocks between two heights are not indexed. `null` if all blocks between them are indexed. */
function gapBetween(below: Height, above: Height): Markup | null {
  const missing = above - below - 1;
  if (missing <= 0) return null;
  return html` <span class="faint">${plural(missing, 'block')} in between are not indexed</span> `;
}

/** Numbers of the block's transactions, inscriptions, sales and runes, if they are known. */
function countsWords({ block, sales, runes }: BlockView): string {
  return [
    plural(block.txCount, 'transaction'),
    plural(block.inscriptionCount, 'inscription'),
    'known' in sales && sales.known.count > 0 && plural(sales.known.count, 'sale'),
    'known' in runes && runes.known > 0 && plural(runes.known, 'etched rune'),
  ]
    .filter(Boolean)
    .join(', ');
}

const headings = { inscriptions: 'Inscriptions', sales: 'Sales', runes: 'Runes etched here' } as const;
const labels = { inscriptions: 'Inscriptions', sales: 'Sales', runes: 'Runes' } as const;

function tabLink(view: BlockView, tab: BlockTab): Markup {
  const { height } = view.block;
  const href = tab === 'inscriptions' ? `/block/${height}` : `/block/${height}?tab=${tab}`;
  const current = tab === view.shown.tab && html` aria-current="page"`;
  return html`<a href="${href}"${current}><span>${labels[tab]}${countWords(view, tab)}</span></a> `;
}

function countWords({ block, sales, runes }: BlockView, tab: BlockTab): HtmlValue {
  const count = (value: number, isLeast = false): Markup =>
    html` <span class="faint">${grouped(value)}${isLeast && '+'}</span>`;
  switch (tab) {
    case 'inscriptions':
      return count(block.inscriptionCount);
    case 'sales':
      return 'known' in sales && count(sales.known.count, sales.known.isLeast);
    case 'runes':
      return 'known' in runes && count(runes.known);
  }
}

function tabBody({ block, shown }: BlockView): HtmlValue {
  switch (shown.tab) {
    case 'inscriptions':
      if (block.inscriptionCount === 0)
        return html`<p class="empty">Nothing was inscribed in this block.</p>`;
      return [
        choicesNav('Kinds', shown.kinds, true),
        shown.cards.length > 0
          ? cardList(shown.cards)
          : html`<p class="empty">${noCardWords(shown.steps)}</p>`,
      ];
    case 'sales':
      return rowsOf(
        shown.sales,
        (sales) => saleRows(sales),
        shown.steps,
        'No inscription was sold in this block.',
      );
    case 'runes':
      return rowsOf(
        shown.runes,
        (runes) => runesTable(runes, true),
        shown.steps,
        'No rune was etched in this block.',
      );
  }
}

function noCardWords(steps: NumberedSteps | LinkedSteps): string {
  if ('page' in steps) return `Page ${steps.page} is past the end.`;
  return steps.next === null
    ? 'No inscription of this block is of that kind.'
    : 'No match among the inscriptions checked so far. Later ones may match.';
}

function rowsOf<Row>(
  rows: Known<readonly Row[]>,
  table: (rows: readonly Row[]) => Markup,
  { page }: NumberedSteps,
  none: string,
): HtmlValue {
  if ('unknown' in rows) return html`<p>${unknownWords(rows.unknown)}</p>`;
  if (rows.known.length > 0) return table(rows.known);
  return html`<p class="empty">${page > 1 ? `Page ${page} is past the end.` : none}</p>`;
}

function stepsOf(height: Height, { tab, steps }: BlockTabView): HtmlValue {
  if ('page' in steps) {
    const parameters: Record<string, string> = tab === 'inscriptions' ? {} : { tab };
    return pagesNav({ path: `/block/${height}`, parameters, ...steps });
  }
  const { first, next } = steps;
  if (first === null && next === null) return null;
  return html`<p class="steps"><span>${first !== null && html`<a href="${first}" rel="first">« First</a>`}</span><span>${next !== null && html`<a href="${next}" rel="next">Next ›</a>`}</span></p>`;
}
