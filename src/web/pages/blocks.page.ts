import type { Height } from '#kernel/primitives/height.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type BlockLine, blocksTable } from '#web/parts/blocks-table.ts';

export interface BlocksView {
  readonly site: Site;
  readonly blocks: readonly BlockLine[];
  /** Height at which the next page begins. `null` if this is the last page. */
  readonly below: Height | null;
}

export function blocksPage({ site, blocks, below }: BlocksView): Markup {
  return layout({
    title: 'Blocks · Satscribe',
    description: 'The indexed blocks, newest first, with the number of inscriptions in each.',
    site,
    main: html`<section>
<h1>Blocks</h1>
${blocks.length > 0 ? blocksTable(blocks) : html`<p class="empty">No block is indexed here.</p>`}
${below !== null && html`<p class="more"><a href="/blocks?from=${below}" rel="next">Older blocks ›</a></p>`}
</section>`,
  });
}
