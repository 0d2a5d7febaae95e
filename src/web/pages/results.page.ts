import type { TextMatch } from '#kernel/contracts/search-engine.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { grouped, plural } from '#web/format.ts';
import { type HtmlValue, html, type Markup } from '#web/html.ts';
import { layout, type Site } from '#web/layout.ts';
import { type Card, cardList } from '#web/parts/cards.ts';
import { type Bar, timeChart } from '#web/parts/chart.ts';
import { pagesNav } from '#web/parts/pages-nav.ts';
import { filterForm, filtersOf, type TypeCount, typeCounts } from '#web/parts/search-filters.ts';
import { isolated } from '#web/parts/strangers-text.ts';

export type ResultsQuestion =
  | {
      readonly kind: 'text';
      readonly where: 'content' | 'metadata';
      readonly match: TextMatch;
      readonly needles: readonly string[];
    }
  | { readonly kind: 'hash'; readonly hash: string; readonly coverage: CoveredBlocks };

/** The blocks that an answer covers. Heights are null for an empty index. */
export interface CoveredBlocks {
  readonly fromHeight: Height | null;
  readonly toHeight: Height | null;
  readonly blocks: number;
  /** No block up to `toHeight` that can hold an inscription is missing. */
  readonly complete: boolean;
}

export interface ResultsView {
  readonly site: Site;
  /** What the search box shows. */
  readonly query: string;
  readonly question: ResultsQuestion;
  readonly cards: readonly Card[];
  readonly page: number;
  readonly totalItems: number;
  readonly totalPages: number;
  /** The parameters of this search, without the page. */
  readonly parameters: Readonly<Record<string, string>>;
  /** Matches by type and over time. Null: too many to count. */
  readonly overview: {
    readonly types: readonly TypeCount[];
    readonly otherTypes: number;
    readonly bars: readonly Bar[];
  } | null;
  /** The inscription whose number is the query. */
  readonly numbered: { readonly id: string; readonly number: number } | null;
  /** The query, where it is the height of an indexed block. */
  readonly height: Height | null;
  /** The query, where a rune has this name. */
  readonly rune: string | null;
  /** The sat that the query names in a notation of digits. */
  readonly sat: number | null;
}

export function resultsPage(view: ResultsView): Markup {
  const { site, query, question, cards, page, totalItems, totalPages, parameters, numbered, height } = view;
  const { overview, rune, sat } = view;
  const nav = pagesNav({ path: '/', parameters, page, totalPages });
  return layout({
    title: `${query} · Satscribe`,
    site,
    query,
    mode: modeOf(parameters),
    main: html`<section class="results">
<h1 class="count">${heading(question, totalItems, parameters)}</h1>
${numbered !== null && html`<p class="hint">Inscription <a href="/inscription/${numbered.id}">#${numbered.number}</a> has this number.</p>`}
${height !== null && html`<p class="hint"><a href="/block/${height}">Block ${grouped(height)}</a> has this height.</p>`}
${rune !== null && html`<p class="hint">Rune <a href="/rune/${encodeURIComponent(rune)}">${rune}</a> has this name.</p>`}
${sat !== null && html`<p class="hint"><a href="/sat/${sat}">Sat ${grouped(sat)}</a> is written so.</p>`}
${otherReading(question, parameters)}
${filterForm(parameters, question.kind === 'text')}
${overview !== null && typeCounts(overview.types, overview.otherTypes, parameters)}
${overview !== null && timeChart(overview.bars)}
${cards.length > 0 ? cardList(cards) : nothing(question, page, totalItems, parameters)}
${nav}
</section>`,
  });
}

/** The parameters of how to search, without what to search. */
function modeOf(parameters: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(parameters).filter(([name]) => modeNames.has(name)));
}

const modeNames: ReadonlySet<string> = new Set(['in', 'all', 'words', 'fuzzy']);

type Parameters = ResultsView['parameters'];

function heading(question: ResultsQuestion, totalItems: number, parameters: Parameters): HtmlValue {
  if (question.kind === 'hash') return hashHeading(question.coverage, totalItems, parameters);
  const quoted = question.needles.map((needle) => html`<q>${isolated(needle)}</q>`);
  const joined = quoted.flatMap((needle, index) => (index === 0 ? [needle] : [' and ', needle]));
  const where = verbs[question.match][question.where];
  return html`${plural(totalItems, 'inscription')} whose ${where} ${joined}`;
}

/** Only a search without filters proves that a content is new, and only the default order puts the first one first. */
function hashHeading(coverage: CoveredBlocks, totalItems: number, parameters: Parameters): HtmlValue {
  if (filtersOf(parameters).length > 0) {
    return html`${plural(totalItems, 'inscription')} of this content ${totalItems === 1 ? 'passes' : 'pass'} these filters`;
  }
  if (totalItems === 0) return html`New ${among(coverage)}: no inscription there has this content`;
  const times = totalItems === 1 ? 'once' : plural(totalItems, 'time');
  const where = coverage.complete ? '' : ` ${among(coverage)}`;
  const isFirst = parameters['sort'] === undefined && parameters['order'] === undefined;
  return html`Inscribed ${times} already${where}${isFirst ? ', first by' : ''}`;
}

/** The searched blocks: a content is new only in these. */
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

/** A text with commas can mean two things. */
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

function nothing(
  question: ResultsQuestion,
  page: number,
  totalItems: number,
  parameters: Parameters,
): Markup {
  if (totalItems > 0) return html`<p class="empty">Page ${page} is past the end.</p>`;
  if (filtersOf(parameters).length > 0) {
    return html`<p class="empty">No indexed inscription matches and passes all filters.</p>`;
  }
  if (question.kind === 'hash') {
    return html`<p class="empty"><span class="mono">${question.hash}</span> is not the hash of any content indexed here.</p>`;
  }
  if (question.match !== 'substring') {
    return html`<p class="empty">No indexed inscription has all of these words.</p>`;
  }
  return html`<p class="empty">No indexed inscription contains this. Case does not matter; every other character does.</p>`;
}
