import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { type Art, artTile } from '#web/parts/art-tile.ts';

/** The first inscriptions of a group that belongs to another inscription. */
export interface ArtStripView {
  readonly heading: string;
  readonly cards: readonly (Art & { readonly number: number | null })[];
  /** Number of all inscriptions. `null` if the inscriptions are still being counted. */
  readonly total: number | null;
  /** The page with all inscriptions. */
  readonly href: string;
}

/** A row of tiles with their numbers, and a link to all inscriptions. Empty if there are no tiles. */
export function artStrip({ heading, cards, total, href }: ArtStripView): HtmlValue {
  if (cards.length === 0) return null;
  return html`<section><h2>${heading}${total !== null && html` <span class="faint">${grouped(total)}</span>`}</h2>
<ul class="strip">
${cards.map(stripItem)}</ul>
${(total === null || total > cards.length) && html`<p class="more"><a href="${href}">All ›</a></p>`}
</section>`;
}

function stripItem(art: ArtStripView['cards'][number]): Markup {
  const name = art.number === null ? `${art.id.slice(0, 8)}…` : `#${grouped(art.number)}`;
  return html`<li><a href="/inscription/${art.id}" title="${art.id}"><span class="view">${artTile(art)}</span><span class="name">${name}</span></a></li>
`;
}
