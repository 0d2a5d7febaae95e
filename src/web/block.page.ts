import { type BlockLine, blocksTable, knownWords } from './blocks-table.ts';
import { type Card, cardList } from './cards.ts';
import { grouped, plural, sizeWords, timeWords } from './format.ts';
import { html, type Markup } from './html.ts';
import { layout, type Site } from './layout.ts';
import { pagesNav } from './pages-nav.ts';

export interface BlockView {
  readonly site: Site;
  readonly block: BlockLine;
  readonly cards: readonly Card[];
  readonly page: number;
  readonly totalPages: number;
}

export function blockPage({ site, block, cards, page, totalPages }: BlockView): Markup {
  return layout({
    title: `Block ${block.height} · Satscribe`,
    site,
    main: html`<section>
<h1>Block ${grouped(block.height)}</h1>
<p class="mono faint wrap">${block.hash}</p>
<p>${timeWords(block.time)} · ${plural(block.txCount, 'transaction')} · ${sizeWords(block.sizeBytes)} · ${plural(block.inscriptionCount, 'inscription')}</p>
<p class="known">${knownWords(block)}</p>
${cards.length > 0 && cardList(cards)}
${cards.length === 0 && html`<p class="empty">${block.inscriptionCount === 0 ? 'Nothing was inscribed in this block.' : `Page ${page} is past the end.`}</p>`}
${pagesNav({ path: `/block/${block.height}`, parameters: {}, page, totalPages })}
<p class="steps">${block.height > 0 && html`<a href="/block/${block.height - 1}" rel="prev">‹ ${grouped(block.height - 1)}</a> `}<a href="/block/${block.height + 1}" rel="next">${grouped(block.height + 1)} ›</a></p>
</section>`,
  });
}

export interface BlocksView {
  readonly site: Site;
  readonly blocks: readonly BlockLine[];
  /** Height at which the next page begins. Null at the end. */
  readonly below: number | null;
}

export function blocksPage({ site, blocks, below }: BlocksView): Markup {
  return layout({
    title: 'Blocks · Satscribe',
    site,
    main: html`<section>
<h1>Blocks</h1>
${blocks.length > 0 ? blocksTable(blocks) : html`<p class="empty">No block is indexed here.</p>`}
${below !== null && html`<p class="more"><a href="/blocks?from=${below}" rel="next">Older blocks ›</a></p>`}
</section>`,
  });
}
