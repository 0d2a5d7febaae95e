import { grouped, plural } from '#web/format.ts';
import { html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';
import { type RuneLine, runesTable } from '#web/parts/runes-table.ts';
import { isolated } from '#web/parts/strangers-text.ts';
import { watchLink } from '#web/parts/watch-link.ts';

const sortWords = {
  newest: 'newest',
  oldest: 'number',
  name: 'name, short ones first',
  mints: 'most mints',
} as const;
export type RunesSort = keyof typeof sortWords;

export interface RunesView {
  readonly site: Site;
  readonly runes: readonly RuneLine[];
  /** Number of runes in the list. */
  readonly count: number;
  /** Number of all runes. */
  readonly countOfAll: number;
  /** Number of this page, from 1. */
  readonly page: number;
  readonly totalPages: number;
  readonly sort: RunesSort;
  /** Whether the list has only runes that the next block can mint. */
  readonly isMinting: boolean;
  /** The text that was searched for. */
  readonly query: string;
  /** The letters at the beginning of names. `null` if the query has other characters. */
  readonly prefix: string | null;
}

export function runesPage(view: RunesView): Markup {
  const { site, runes, page, totalPages, countOfAll } = view;
  return layout({
    title: 'Runes · Satscribe',
    description: `All ${grouped(countOfAll)} runes: supply, mints, holders and events.`,
    site,
    main: html`<section>
<h1>Runes</h1>
<p class="faint">${countWords(view)} · <a href="/etch">Etch a rune</a> · <a href="/mint-rune">Mint a rune</a> · ${watchLink({ kind: 'runes', event: 'etched' }, 'Watch new runes')}</p>
${filterForm(view)}
${runes.length > 0 ? runesTable(runes) : html`<p class="empty">${emptyWords(view)}</p>`}
${pagesNav({ path: '/runes', parameters: parametersOf(view), page, totalPages })}
</section>`,
  });
}

function countWords({ count, countOfAll, sort, isMinting, query }: RunesView): string {
  const order = `by ${sortWords[sort]}`.replace('by newest', 'newest first').replace('by most', 'most');
  if (query === '' && !isMinting) return `${grouped(countOfAll)} etched, ${order}`;
  return `${plural(count, 'rune')} of ${grouped(countOfAll)}, ${order}`;
}

function emptyWords({ countOfAll, page, query, prefix, isMinting }: RunesView): Markup {
  if (countOfAll === 0) return html`No rune has been etched yet.`;
  if (prefix === null) return html`Names of runes only have the letters A to Z. Spacers may be left out.`;
  if (page > 1) return html`Page ${page} is past the end. <a href="/runes">Go to the first page</a>`;
  const words = isMinting ? ' that can be minted now' : '';
  return html`No rune${words} has a name that begins with ${isolated(query)}. <a href="/runes">Show all runes</a>`;
}

/** Parameters of links to this list. Parameters with their default value are left out. */
function parametersOf({ sort, isMinting, query }: RunesView): Record<string, string> {
  return {
    ...(query === '' ? {} : { q: query }),
    ...(sort === 'newest' ? {} : { sort }),
    ...(isMinting ? { minting: 'now' } : {}),
  };
}

function filterForm({ sort, isMinting, query }: RunesView): Markup {
  return html`<form class="find" action="/runes" method="get" role="search" aria-label="Runes">
<label>Name begins with <input name="q" type="search" value="${query}" maxlength="60" autocomplete="off" autocapitalize="characters" spellcheck="false" placeholder="DOG"></label>
<label>Order <select name="sort">${Object.entries(sortWords).map(([name, words]) => html`<option value="${name}" ${name === sort && html`selected`}>${words}</option>`)}</select></label>
<label class="tick"><input type="checkbox" name="minting" value="now" ${isMinting && html`checked`}> minting now</label>
<button type="submit">Show</button>
</form>`;
}
