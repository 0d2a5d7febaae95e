import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type MeaningView, meaningCards } from '#web/parts/meaning-cards.ts';
import { isolated } from '#web/parts/strangers-text.ts';

export interface NamedView {
  /** `null` if the process does not know its network yet. */
  readonly site: Site | null;
  readonly query: string;
  /** The meanings of the query: at least one. */
  readonly meanings: readonly MeaningView[];
  /** The reason why the full-text search failed. */
  readonly failure: string;
}

/** The page with the meanings of a text, if the texts of inscriptions could not be searched. */
export function namedPage({ site, query, meanings, failure }: NamedView): Markup {
  return layout({
    title: `${query} · Satscribe`,
    description: 'Inscriptions, runes, sats, blocks and collections that a text names.',
    site,
    query,
    main: html`<section class="results">
<h1 class="count">What <q>${isolated(query)}</q> names</h1>
${meaningCards(meanings, 'Things with this name')}
<p class="hint">The texts of inscriptions were not searched: ${failure}</p>
</section>`,
  });
}
