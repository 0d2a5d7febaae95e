import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural, sizeWords, timeWords } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type BlockLine, blocksTable, knownWords } from '#web/parts/blocks-table.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';

export interface BlockView {
  readonly site: Site;
  readonly block: BlockLine;
  /** Heights of the indexed blocks next to it, however far away. Null: none. */
  readonly previous: Height | null;
  readonly next: Height | null;
  readonly cards: readonly Card[];
  readonly page: number;
  readonly totalPages: number;
}

export function blockPage({ site, block, previous, next, cards, page, totalPages }: BlockView): Markup {
  const steps = html`<p class="steps"><span>${previous !== null && html`<a href="/block/${previous}" rel="prev">‹ ${grouped(previous)}</a>${gapBetween(previous, block.height)}`}</span><span>${next !== null && html`${gapBetween(block.height, next)}<a href="/block/${next}" rel="next">${grouped(next)} ›</a>`}</span></p>`;
  return layout({
    title: `Block ${block.height} · Satscribe`,
    description: `Bitcoin block ${grouped(block.height)} of ${timeWords(block.time)}: ${plural(block.txCount, 'transaction')}, ${plural(block.inscriptionCount, 'inscription')}.`,
    site,
    main: html`<section>
<h1>Block ${grouped(block.height)}</h1>
<p class="mono faint wrap">${block.hash}</p>
<p>${timeWords(block.time)} · ${plural(block.txCount, 'transaction')} · ${sizeWords(block.sizeBytes)} · ${plural(block.inscriptionCount, 'inscription')}</p>
<p class="known">${knownWords(block)}</p>
${steps}
${cards.length > 0 && cardList(cards)}
${cards.length === 0 && html`<p class="empty">${block.inscriptionCount === 0 ? 'Nothing was inscribed in this block.' : `Page ${page} is past the end.`}</p>`}
${pagesNav({ path: `/block/${block.height}`, parameters: {}, page, totalPages })}
${steps}
</section>`,
  });
}

/** Says that blocks between two heights are not indexed. */
function gapBetween(below: Height, above: Height): Markup | null {
  const missing = above - below - 1;
  if (missing <= 0) return null;
  return html` <span class="faint">${plural(missing, 'block')} between are not indexed</span> `;
}

export interface BlocksView {
  readonly site: Site;
  readonly blocks: readonly BlockLine[];
  /** Height at which the next page begins. Null at the end. */
  readonly below: Height | null;
}

export function blocksPage({ site, blocks, below }: BlocksView): Markup {
  return layout({
    title: 'Blocks · Satscribe',
    description: 'The blocks that are indexed, newest first, with the inscriptions of each.',
    site,
    main: html`<section>
<h1>Blocks</h1>
${blocks.length > 0 ? blocksTable(blocks) : html`<p class="empty">No block is indexed here.</p>`}
${below !== null && html`<p class="more"><a href="/blocks?from=${below}" rel="next">Older blocks ›</a></p>`}
</section>`,
  });
}
