import { grouped } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { choicesNav, type ListChoice } from '#web/parts/choices.ts';
import { isolated } from '#web/parts/strangers-text.ts';

export interface InscriptionListView {
  readonly site: Site;
  readonly title: string;
  readonly description: string;
  readonly heading: HtmlValue;
  /** A link that watches the list. Absent if such lists cannot be watched. */
  readonly watch?: Markup;
  /** Choices of the kind of content. */
  readonly tabs: readonly ListChoice[];
  readonly sorts: readonly ListChoice[];
  /** A choice that shows or hides token operations. `null` if the list does not have this choice. */
  readonly tokens: ListChoice | null;
  /** All other filters: names and values of parameters. */
  readonly filters: readonly (readonly [name: string, value: string])[];
  readonly notes: readonly string[];
  readonly cards: readonly Card[];
  /** Number of the page, from 0. */
  readonly page: number;
  readonly first: string | null;
  readonly next: string | null;
  /** Words to show if there are no cards. */
  readonly empty: string;
}

/** The page of a list of inscriptions, as tiles, with the list's choices. */
export function inscriptionListPage(view: InscriptionListView): Markup {
  const { site, title, description, heading, watch, tabs, sorts, tokens, filters, notes, cards, empty } =
    view;
  return layout({
    title: `${title} · Satscribe`,
    description,
    site,
    main: html`<section class="list">
<h1 class="wrap">${heading}</h1>
${watch !== undefined && html`<p class="tools">${watch}</p>`}
${choicesNav('Kinds', tabs)}
${(sorts.length > 0 || tokens !== null) && html`<div class="choices">${choicesNav('Order', sorts, true)}${tokens !== null && choicesNav('Token operations', [tokens], true)}</div>`}
${filters.map(([name, value]) => html`<p class="faint wrap">${name}: <span class="mono">${isolated(value)}</span></p>`)}
${notes.map((note) => html`<p class="faint">${note}</p>`)}
${cards.length > 0 ? cardList(cards) : html`<p class="empty">${empty}</p>`}
${steps(view)}
</section>`,
  });
}

function steps({ page, first, next }: InscriptionListView): HtmlValue {
  if (first === null && next === null) return null;
  return html`<nav class="steps" aria-label="Pages">${first !== null && html`<a class="button" href="${first}" rel="first">« First</a>`}<span class="faint">page ${grouped(page + 1)}</span>${next !== null && html`<a class="button" href="${next}" rel="next">Next ›</a>`}</nav>`;
}
