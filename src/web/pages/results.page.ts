import type { TextMatch } from '#kernel/contracts/search-engine.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { type Bar, timeChart } from '#web/parts/chart.ts';
import { type MeaningView, meaningCards } from '#web/parts/meaning-cards.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';
import { filterForm, filtersOf, type TypeCount, typeCounts } from '#web/parts/search-filters.ts';
import { isolated } from '#web/parts/strangers-text.ts';
import { watchLink } from '#web/parts/watch-link.ts';

export type ResultsQuestion =
  | {
      readonly kind: 'text';
      readonly where: 'content' | 'metadata';
      readonly match: TextMatch;
      readonly needles: readonly string[];
    }
  | { readonly kind: 'hash'; readonly hash: string; readonly coverage: CoveredBlocks };

/** The blocks that a search covers. Heights are null if no block is indexed. */
export interface CoveredBlocks {
  readonly fromHeight: Height | null;
  readonly toHeight: Height | null;
  readonly blocks: number;
  /** Whether every block up to `toHeight` that can contain an inscription is indexed. */
  readonly complete: boolean;
}

export interface ResultsView {
  readonly site: Site;
  /** The text in the search box. */
  readonly query: string;
  readonly question: ResultsQuestion;
  readonly cards: readonly Card[];
  readonly page: number;
  readonly totalItems: number;
  readonly totalPages: number;
  /** The parameters of this search, without the page number. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Numbers of matches by type and over time. `null` if there are too many matches to count. */
  readonly overview: {
    readonly types: readonly TypeCount[];
    readonly otherTypes: number;
    readonly bars: readonly Bar[];
  } | null;
  /** The meanings of the query. `isPossible` is true if nearly any word of the query's form has such a meaning. */
  readonly meanings: readonly (MeaningView & { readonly isPossible: boolean })[];
  /** Sentences about things that do not exist. The query has the form of the names of these things. */
  readonly misses: readonly string[];
  /** Number of matches on this page that are only in the mempool. */
  readonly pendingCards: number;
  /** Other searches with matches, if this search has no matches. */
  readonly others: readonly OtherSearch[];
}

/** Another search for the same text. */
export interface OtherSearch {
  readonly words: string;
  readonly href: string;
  /** Number of matches. `null` if counting takes too long. */
  readonly count: number | null;
}

export function resultsPage(view: ResultsView): Markup {
  const { site, query, question, cards, page, totalPages, parameters, overview, meanings } = view;
  const nav = pagesNav({ path: '/', parameters, page, totalPages });
  return layout({
    title: `${query} · Satscribe`,
    description: description(view),
    site,
    query,
    mode: modeOf(parameters),
    main: html`<section class="results">
<h1 class="count">${heading(view)}</h1>
${
  page === 1 &&
  meaningCards(
    meanings.filter(({ isPossible }) => !isPossible),
    'Things with this name',
  )
}
${page === 1 && view.misses.map((sentence) => html`<p class="hint">${sentence}</p>\n`)}
${otherReading(question, parameters)}
${!isOther(view) && filterForm(parameters, question.kind === 'text')}
${overview !== null && typeCounts(overview.types, overview.otherTypes, parameters)}
${overview !== null && timeChart(overview.bars)}
${cards.length > 0 ? cardList(cards) : !isOther(view) && [nothing(view), otherSearches(view.others)]}
${nav}
${followLinks(view)}
${
  page === 1 &&
  meaningCards(
    meanings.filter(({ isPossible }) => isPossible),
    'Things it may also mean',
  )
}
</section>`,
  });
}

function description({ question, totalItems }: ResultsView): string {
  const found = plural(totalItems, 'inscription');
  if (question.kind === 'hash') return `${found} of the content with the sha256 ${question.hash}.`;
  return `${found} whose ${verbs[question.match][question.where]} ${question.needles.join(' and ')}.`;
}

/** Whether the searched hash is of a block or a transaction, and not of a content. */
const isOther = ({ question, totalItems, meanings, parameters }: ResultsView): boolean =>
  question.kind === 'hash' && totalItems === 0 && meanings.length > 0 && filtersOf(parameters).length === 0;

/** Links to hear of later matches. They have no sort order, because both always begin with the newest matches. */
function followLinks(view: ResultsView): Markup | null {
  const { question, cards } = view;
  const { sort: _sort, order: _order, ...parameters } = view.parameters;
  const hasFeed = question.kind === 'text' && cards.length > 0;
  const feed =
    hasFeed &&
    html`<a href="/search.atom?${new URLSearchParams(parameters).toString()}">Follow this search (Atom feed)</a> `;
  // a watch is about later blocks, and similar words cannot be watched
  const { from: _from, to: _to, fuzzy, ...watched } = parameters;
  const canWatch = fuzzy === undefined && !isOther(view) && !hasShortNeedle(question);
  const watch = canWatch && watchLink({ kind: 'search', ...watched }, 'Watch this search');
  return hasFeed || canWatch ? html`<p class="more">${feed}${watch}</p>` : null;
}

/** Minimum number of bytes of the needles of a watch (docs/watches.md, "Bounds"). Words have no minimum. */
const watchedBytesMin = 3;

/** Whether a needle is too short to be watched. A needle that only folding shortens is refused by the form. */
const hasShortNeedle = (question: ResultsView['question']): boolean =>
  question.kind === 'text' &&
  question.match === 'substring' &&
  question.needles.some((needle) => new TextEncoder().encode(needle).length < watchedBytesMin);

function otherSearches(others: readonly OtherSearch[]): Markup | null {
  if (others.length === 0) return null;
  return html`<p class="types" aria-label="Other searches">${others.map(({ words, href, count }) => html`<a class="chip" href="${href}">${words}${count !== null && html` <b>${grouped(count)}</b>`}</a> `)}</p>`;
}

/** The parameters of the search mode, without the searched text. */
function modeOf(parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => modeNames.has(name)));
}

const modeNames: ReadonlySet<string> = new Set(['in', 'all', 'words', 'fuzzy']);

type Parameters = ResultsView['parameters'];

function heading(view: ResultsView): HtmlValue {
  const { question, totalItems, parameters, pendingCards } = view;
  if (question.kind === 'hash') {
    // the hash of a block or a transaction says nothing about a file
    if (isOther(view)) return 'Not the hash of a content';
    return hashHeading(question.coverage, { totalItems, pendingCards }, parameters);
  }
  const quoted = question.needles.map((needle) => html`<q>${isolated(needle)}</q>`);
  const joined = quoted.flatMap((needle, index) => (index === 0 ? [needle] : [' and ', needle]));
  const where = verbs[question.match][question.where];
  return html`${plural(totalItems, 'inscription')} whose ${where} ${joined}`;
}

/**
 * The heading of a search by hash. A content is certainly new only if the search has no filters. The first card is the
 * first inscription of the content only in the default sort order.
 */
function hashHeading(
  coverage: CoveredBlocks,
  { totalItems, pendingCards }: Pick<ResultsView, 'totalItems' | 'pendingCards'>,
  parameters: Parameters,
): HtmlValue {
  if (filtersOf(parameters).length > 0) {
    return html`${plural(totalItems, 'inscription')} of this content ${totalItems === 1 ? 'matches' : 'match'} these filters`;
  }
  if (totalItems === 0) return html`New ${among(coverage)}: no inscription there has this content`;
  // pending matches are last, so if all matches are pending, no block has the content
  if (pendingCards === totalItems)
    return html`In no block yet: ${plural(totalItems, 'pending inscription')} would have this content`;
  const times = totalItems === 1 ? 'once' : plural(totalItems, 'time');
  const where = coverage.complete ? '' : ` ${among(coverage)}`;
  const pending = pendingCards === 0 ? '' : ', the mempool included';
  const isFirst = parameters['sort'] === undefined && parameters['order'] === undefined;
  return html`Already inscribed ${times}${where}${pending}${isFirst ? ', first by' : ''}`;
}

/** The searched blocks in words. These are the only blocks for which a content is known to be new. */
function among({ fromHeight, toHeight, blocks, complete }: CoveredBlocks): string {
  if (fromHeight === null || toHeight === null) return 'here, where no block is indexed';
  if (complete) return `up to block ${grouped(toHeight)}`;
  const heights =
    fromHeight === toHeight
      ? `of height ${grouped(toHeight)}`
      : `of heights ${grouped(fromHeight)} to ${grouped(toHeight)}`;
  return `among ${plural(blocks, 'indexed block')} ${heights}`;
}

const verbs = {
  substring: { content: 'content contains', metadata: 'metadata contain' },
  words: { content: 'content has the words', metadata: 'metadata have the words' },
  fuzzy: { content: 'content has words like', metadata: 'metadata have words like' },
} as const;

/** A link to the other meaning of a text with commas. `null` if there is no other meaning. */
function otherReading(question: ResultsQuestion, parameters: Parameters): Markup | null {
  if (question.kind !== 'text' || question.match !== 'substring') return null;
  const { all, ...rest } = parameters;
  if (all !== undefined) {
    return question.needles.length > 1
      ? html`<p class="hint">All of these texts, in any order. <a href="/?${new URLSearchParams(rest).toString()}">Search it as one text</a></p>`
      : null;
  }
  if (parameters['text']?.includes(',') !== true) return null;
  const split = new URLSearchParams({ ...rest, all: '1' }).toString();
  return html`<p class="hint">Searched as one text. <a href="/?${split}">Search the parts between commas</a></p>`;
}

function nothing({ question, page, totalItems, parameters }: ResultsView): Markup {
  if (totalItems > 0) return html`<p class="empty">Page ${page} is past the end.</p>`;
  if (filtersOf(parameters).length > 0) {
    return html`<p class="empty">No indexed inscription matches this search and its filters.</p>`;
  }
  if (question.kind === 'hash') {
    return html`<p class="empty"><span class="mono wrap">${question.hash}</span> is not the hash of any content indexed here. No block or transaction with this id is known here either.</p>
<p class="types"><a class="button" href="/inscribe">Check or inscribe a file</a></p>`;
  }
  if (question.match !== 'substring') {
    return html`<p class="empty">No indexed inscription has all of these words.</p>`;
  }
  return html`<p class="empty">No indexed inscription contains this. Upper and lower case are the same; every other character counts.</p>`;
}
