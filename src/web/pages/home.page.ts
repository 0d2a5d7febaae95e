import { grouped, plural } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site, searchForm } from '#web/layout.ts';
import { type BlockLine, blocksTable } from '#web/parts/blocks-table.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { type LiveView, liveStrip } from '#web/parts/live-strip.ts';

export interface HomeView {
  readonly site: Site;
  readonly inscriptions: number;
  readonly blocks: number;
  readonly islands: number;
  readonly blessed: number | null;
  readonly cursed: number | null;
  /** A selection of the newest inscriptions, and the first inscription of all. */
  readonly cards: readonly Card[];
  readonly latest: readonly BlockLine[];
  readonly live: LiveView;
}

const examples: readonly { readonly words: string; readonly href: string }[] = [
  { words: 'brc-20', href: '/?text=brc-20' },
  { words: '"op":"deploy"', href: `/?text=${encodeURIComponent('"op":"deploy"')}` },
  { words: 'bitcoin', href: '/?text=bitcoin' },
  { words: '<svg', href: `/?text=${encodeURIComponent('<svg')}` },
  { words: '/content/', href: `/?text=${encodeURIComponent('/content/')}` },
];

export function homePage(view: HomeView): Markup {
  return layout({
    title: 'Satscribe: search everything inscribed on Bitcoin',
    description:
      'Search everything inscribed on Bitcoin, word for word. Check whether a file is already inscribed, and follow new blocks, sales and fees.',
    site: view.site,
    isHome: true,
    scripts: ['live-page.js'],
    main: html`<section class="hero">
  <h1>Everything inscribed, word for word.</h1>
  ${searchForm('', 'large')}
  <p class="examples">Try ${examples.map(({ words, href }) => html`<a href="${href}">${words}</a> `)}</p>
</section>
<section aria-labelledby="now"><h2 id="now" class="unseen">Now</h2>
${liveStrip(view.live)}
</section>
${checkCard}
${facts(view)}
${
  view.cards.length > 0 &&
  html`<section><h2>Recently inscribed <span class="faint">images first, then texts; last, the first indexed inscription</span></h2>${cardList(view.cards)}</section>`
}
${
  view.latest.length > 0 &&
  html`<section id="blocks"><h2>Blocks</h2>
${blocksTable(view.latest)}
${view.blocks > view.latest.length && html`<p class="more"><a href="/blocks">All ${grouped(view.blocks)} blocks</a></p>`}
</section>`
}`,
  });
}

/**
 * A card to check a file. A script computes the hash. Without scripts, the reader can type the hash into the search
 * box.
 */
const checkCard = html`<section class="file-check" aria-labelledby="check">
  <h2 id="check">Check a file</h2>
  <p>Is it already inscribed, and who was first? The file is hashed here and never leaves your machine.</p>
  <p class="choose"><label class="button">Choose a file<input type="file" class="pick"></label> <span class="faint">or drop it anywhere</span></p>
  <noscript><p>Your browser runs no scripts: search for the file’s sha256 above instead.</p></noscript>
  <div class="checked" role="status" aria-live="polite"></div>
</section>`;

function facts({ inscriptions, blocks, islands, blessed, cursed }: HomeView): Markup {
  const fact = (words: string, value: string): Markup => html`<div><dt>${words}</dt><dd>${value}</dd></div>`;
  return html`<dl class="facts">
${fact('inscriptions', grouped(inscriptions))}
${blessed !== null && fact('blessed', grouped(blessed))}
${cursed !== null && fact('cursed', grouped(cursed))}
${fact(islands > 1 ? `blocks in ${plural(islands, 'run')}` : 'blocks', grouped(blocks))}
</dl>`;
}
