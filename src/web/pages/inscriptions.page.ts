import { grouped } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { type HeldRunesView, heldRunesTable } from '#web/parts/held-runes.ts';
import { isolated } from '#web/parts/strangers-text.ts';

export interface InscriptionsView {
  readonly site: Site;
  readonly heading: string;
  /** The filters of the list: names and values of parameters. */
  readonly filters: readonly (readonly [name: string, value: string])[];
  /** Lines with further facts, such as a balance. */
  readonly notes: readonly string[];
  /** The runes of an address. Null: the list is not that of an address, or they are not known. */
  readonly runes: HeldRunesView | null;
  readonly cards: readonly Card[];
  /** Counts from 0. */
  readonly page: number;
  readonly first: string | null;
  readonly next: string | null;
}

/** A list of inscriptions, newest or oldest first, with its filters. */
export function inscriptionsPage(view: InscriptionsView): Markup {
  const { site, heading, filters, notes, runes, cards, page, first, next } = view;
  return layout({
    title: `${heading} · Satscribe`,
    site,
    main: html`<section>
<h1>${heading}</h1>
${filters.map(([name, value]) => html`<p class="faint wrap">${name}: <span class="mono">${isolated(value)}</span></p>`)}
${notes.map((note) => html`<p>${note}</p>`)}
${runes !== null && heldRunesTable(runes)}
${runes !== null && runes.runes.length > 0 && html`<h2>Inscriptions</h2>`}
${cards.length > 0 && cardList(cards)}
${cards.length === 0 && html`<p class="empty">${next === null ? 'No inscription matches.' : 'None among the inscriptions checked so far: older ones may match.'}</p>`}
<p class="steps">${first !== null && html`<a href="${first}" rel="first">« First</a> `}<span class="faint">page ${grouped(page + 1)}</span>${next !== null && html` <a href="${next}" rel="next">Next ›</a>`}</p>
</section>`,
  });
}
