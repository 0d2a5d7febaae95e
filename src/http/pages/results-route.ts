import type { FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import { readCoverage } from '#chain/blocks/coverage.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { text } from '#http/parameters/list-parameters.ts';
import { missesOf } from '#http/search/resolving/misses.ts';
import { isOrderId } from '#http/search/resolving/order-id.ts';
import { resolve, typedTarget } from '#http/search/resolving/resolve.ts';
import { exampleHash } from '#http/search/search.schemas.ts';
import {
  matchOf,
  memberQuery,
  searchFilterOf,
  searchFilterQuery,
  searchPagingOf,
  sortQuery,
} from '#http/search/search-parameters.ts';
import { hashOf } from '#http/search/validate-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { wholeNumberPattern } from '#http/server/errors/schema-faults.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { SearchFilter, SearchSort } from '#kernel/contracts/search-engine.ts';
import type { PendingAnswer, RecordPage, SearchRecord } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { orderIdPage } from '#web/pages/order-id.page.ts';
import { type ResultsQuestion, type ResultsView, resultsPage } from '#web/pages/results.page.ts';
import type { Card } from '#web/parts/cards.ts';
import { filterNames } from '#web/parts/search-filters.ts';
import { namedResults, type ResultsDependencies, searchFailure } from './named-results.ts';
import { otherSearches } from './other-searches.ts';
import { overviewOf } from './results-overview.ts';

// the empty text is a value too, because forms also send empty fields
const mark = (description: string) =>
  Type.Optional(Type.Union([Type.Literal('1'), Type.Literal('')], { description }));

const formNumber = (description: string) =>
  Type.Optional(Type.String({ pattern: `^$|${wholeNumberPattern}`, description }));

export const resultsQuery = Type.Object({
  q: text(
    'the content of the search box: redirects to the page of the thing that it names, or to a search',
    { minLength: 0 },
    'brc-20',
  ),
  text: text(
    'the text to search; with all=1 several texts, separated by commas',
    { minLength: 0, maxLength: 1000 },
    'brc-20',
  ),
  hash: text('sha256 of the content in 64 hex digits', acceptedForms.hash, exampleHash),
  in: Type.Optional(
    Type.Union([Type.Literal('content'), Type.Literal('metadata')], {
      description: 'the texts to search',
    }),
  ),
  all: mark('1: text is a list, separated by commas; all must occur'),
  words: mark('1: the text is a list of whole words, found in any order'),
  fuzzy: mark('1: like words, but each word may differ by a few edits'),
  ...searchFilterQuery,
  ...memberQuery,
  from: formNumber('lowest height of the reveal'),
  to: formNumber('highest height of the reveal'),
  ...sortQuery,
  page: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, default: 1, description: 'counts from 1' }),
});
export type ResultsQuery = Static<typeof resultsQuery>;

/** Modes of the text search. The search box keeps the chosen mode. */
const modeNames = ['all', 'words', 'fuzzy'] as const;

/** Maximum number of results on a page. 60 cards fill rows of two to six. */
const resultsPerPage = 60;

/** Whether a query is a search. An order id is not a search, because it is never searched for or shown. */
export function isSearch({ q, text, hash }: Readonly<Record<string, unknown>>): boolean {
  return (q !== undefined || text !== undefined || hash !== undefined) && !hasOrderId({ q, text });
}

/** Whether an order id was sent as a search, which browsers without scripts do. */
export function hasOrderId({ q, text }: Readonly<Record<string, unknown>>): boolean {
  return [q, text].some((given) => typeof given === 'string' && isOrderId(given));
}

/** Sends a page that says where an order id belongs. Reads only the tip from the database. */
export async function orderIdRoute(deps: AppDependencies, reply: FastifyReply): Promise<FastifyReply> {
  // the URL of this page contains the secret order id, so it must not be in any cache or referrer
  reply.header('cache-control', 'no-store').header('referrer-policy', 'no-referrer');
  return withSnapshot(
    deps.pool,
    async ({ tip }) => sendPage(reply, orderIdPage({ site: siteOf(deps, tip) })),
    askerOf(reply).signal,
  );
}

/** Answers searches of the page. Redirects to the thing that the input names, or shows matches. */
export async function resultsRoute(
  deps: ResultsDependencies,
  query: ResultsQuery,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (query.q !== undefined)
    return reply.redirect(await searchTarget(deps, query.q, query, askerOf(reply)), 303);
  if (query.hash !== undefined && query.text !== undefined) {
    throw new AppError('request_invalid', 'only one of text and hash can be searched at once');
  }
  return query.hash === undefined
    ? textResults(deps, query, query.text ?? '', reply)
    : hashResults(deps, query, query.hash.toLowerCase(), reply);
}

async function searchTarget(
  deps: ResultsDependencies,
  typed: string,
  query: ResultsQuery,
  asker: Asker,
): Promise<string> {
  if (typed.trim() === '') return '/';
  const named = await typedTarget(deps, { text: typed, asker, transactions: deps.transactions });
  if (named !== null) return named;
  const parameters = new URLSearchParams({ text: typed.toWellFormed() });
  if (query.in === 'metadata') parameters.set('in', 'metadata');
  for (const name of modeNames) if (query[name] === '1') parameters.set(name, '1');
  return `/?${parameters.toString()}`;
}

/** The filters and order of a search's query. */
interface Narrowing {
  readonly paging: {
    readonly page: number;
    readonly itemsPerPage: number;
    /** Matches in the mempool are last. */
    readonly pending: true;
    readonly filter?: SearchFilter;
    readonly sort?: SearchSort;
    readonly order?: 'asc' | 'desc';
  };
  /** The filters and the order as parameters for links. */
  readonly parameters: Readonly<Record<string, string>>;
}

function narrowingOf({ page, ...query }: ResultsQuery): Narrowing {
  const given = filterNames.flatMap((name) => {
    const value = query[name] ?? '';
    return value === '' ? [] : [[name, value] as const];
  });
  const parameters = Object.fromEntries(given);
  const filter = searchFilterOf(parameters);
  const { pending: _pending, highlight: _highlight, ...sorted } = searchPagingOf(parameters);
  const paging = { ...sorted, page, itemsPerPage: resultsPerPage, pending: true as const };
  return { paging: filter === undefined ? paging : { ...paging, filter }, parameters };
}

async function textResults(
  deps: ResultsDependencies,
  query: ResultsQuery,
  text: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const where = query.in ?? 'content';
  const { paging, parameters: narrowing } = narrowingOf(query);
  const { match } = matchOf({ words: query.words, fuzzy: query.fuzzy });
  const asker = askerOf(reply);
  const searching = deps.search.textSearch({
    ...paging,
    asker,
    corpus: where,
    text,
    match,
    phrase: match === 'substring' && query.all !== '1',
    highlight: true,
    facets: true,
  });
  const answer = await searching.catch(searchFailure);
  if (answer instanceof AppError) return namedResults(deps, text, answer, reply);
  const modes = modeNames.filter((name) => query[name] === '1').map((name) => [name, '1'] as const);
  const parameters = {
    text,
    ...(where === 'metadata' ? { in: where } : {}),
    ...Object.fromEntries(modes),
    ...narrowing,
  };
  const question = { kind: 'text' as const, where, match, needles: answer.value.needles };
  const others =
    answer.value.totalItems === 0 && paging.filter === undefined
      ? await otherSearches(deps.search, { text, where, match }, asker)
      : [];
  return show(deps, { query: text, question, parameters, page: query.page, others }, answer, reply);
}

async function hashResults(
  deps: ResultsDependencies,
  query: ResultsQuery,
  hash: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const wanted = hashOf(hash, 'hash');
  const { paging, parameters } = narrowingOf(query);
  const asker = askerOf(reply);
  const answer = await deps.search.hashSearch({ ...paging, asker, hash: wanted, facets: true });
  const coverage = await withCutConnection(deps.pool, asker.signal, (client) =>
    readCoverage(client, deps.network, answer.tip),
  );
  const question = { kind: 'hash' as const, hash, coverage };
  return show(
    deps,
    { query: hash, question, parameters: { hash, ...parameters }, page: query.page, others: [] },
    answer,
    reply,
  );
}

interface Asked {
  readonly query: string;
  readonly question: ResultsQuestion;
  readonly parameters: Readonly<Record<string, string>>;
  readonly page: number;
  readonly others: ResultsView['others'];
}

async function show(
  deps: ResultsDependencies,
  asked: Asked,
  { tip, value }: PendingAnswer<RecordPage>,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const { question, parameters, query } = asked;
  const where = question.kind === 'text' ? question.where : 'content';
  const asker = askerOf(reply);
  const { transactions } = deps;
  const meanings = await resolve(deps, { text: query, asker, detail: 'card', transactions });
  const view = {
    ...asked,
    site: siteOf(deps, tip),
    cards: value.records.map((record) => recordCard(record, where)),
    pendingCards: value.records.filter(({ pending }) => pending === 'true').length,
    totalItems: value.totalItems,
    totalPages: Math.ceil(value.totalItems / resultsPerPage),
    overview: await overviewOf(deps.pool, value.facets ?? null, parameters, asker.signal),
    misses: missesOf(query, meanings, deps.network),
    // leave out the hash, because the page already shows the content
    meanings: meanings
      .filter(({ kind }) => kind !== 'hash')
      .map(({ certainty, ...meaning }) => ({
        ...meaning,
        isPossible: certainty === 'possible',
      })),
  };
  return sendPage(reply, resultsPage(view), { thumbnails: true });
}

function recordCard(record: SearchRecord, where: 'content' | 'metadata'): Card {
  return {
    id: record.inscriptionid,
    number: record.inscriptionnumber === null ? null : Number(record.inscriptionnumber),
    height: record.blockheight === null ? null : asHeight(Number(record.blockheight)),
    contentType: record.contenttypestr,
    sizeBytes: record.contentlength === null ? null : Number(record.contentlength),
    text: record.contentstr,
    ...(record.highlights === undefined ? {} : { found: { where, pieces: record.highlights } }),
  };
}
