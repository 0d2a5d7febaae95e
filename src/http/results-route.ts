import type { FastifyReply } from 'fastify';
import { type Static, Type } from 'typebox';
import { blockAt } from '#chain/block.queries.ts';
import { inscriptionDetail } from '#chain/inscription.queries.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { RecordPage, SearchRecord } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withSnapshot } from '#kernel/pg/snapshot.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { Card } from '#web/cards.ts';
import { type ResultsQuestion, type ResultsView, resultsPage } from '#web/results.page.ts';
import type { AppDependencies } from './app-dependencies.ts';
import { clientGone } from './client-gone.ts';
import { findTarget } from './ord-search.ts';
import { sendPage } from './send-page.ts';
import { siteOf } from './site.ts';

export const resultsQuery = Type.Object({
  /** What was typed: an id, a hash, or a text. */
  q: Type.Optional(Type.String()),
  text: Type.Optional(Type.String()),
  hash: Type.Optional(Type.String()),
  in: Type.Optional(Type.Union([Type.Literal('content'), Type.Literal('metadata')])),
  /** Commas separate needles; otherwise the whole text is one. */
  all: Type.Optional(Type.Literal('1')),
  page: Type.Integer({ minimum: 1, maximum: 2 ** 31 - 1, default: 1 }),
});
export type ResultsQuery = Static<typeof resultsQuery>;

/** Fills rows of two to six cards. */
const resultsPerPage = 60;

/** Searches of the page: what was typed is sent on to where it leads, then shown. */
export async function resultsRoute(
  deps: AppDependencies,
  query: ResultsQuery,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (query.q !== undefined) return reply.redirect(await typedTarget(deps, query.q, query), 303);
  if (query.hash !== undefined && query.text !== undefined) {
    throw new AppError('request_invalid', 'only one of text and hash can be searched at once');
  }
  return query.hash === undefined
    ? textResults(deps, query, query.text ?? '', reply)
    : hashResults(deps, query, query.hash.toLowerCase(), reply);
}

async function typedTarget(deps: AppDependencies, typed: string, query: ResultsQuery): Promise<string> {
  const trimmed = typed.trim();
  if (trimmed === '') return '/';
  // a number alone is more often a text; with # it is meant
  if (/^#-?\d{1,10}$/u.test(trimmed)) return `/inscription/${trimmed.slice(1)}`;
  if (/^[0-9a-f]{64}(?:i\d+)?$/iu.test(trimmed) || parseAddress(trimmed, deps.network).kind === 'script') {
    return findTarget(deps, trimmed, true);
  }
  const parameters = new URLSearchParams({ text: typed.toWellFormed() });
  if (query.in === 'metadata') parameters.set('in', 'metadata');
  if (query.all === '1') parameters.set('all', '1');
  return `/?${parameters.toString()}`;
}

async function textResults(
  deps: AppDependencies,
  query: ResultsQuery,
  text: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const where = query.in ?? 'content';
  const answer = await deps.search.textSearch({
    signal: clientGone(reply),
    corpus: where,
    text,
    phrase: query.all !== '1',
    page: query.page,
    itemsPerPage: resultsPerPage,
  });
  const parameters = {
    text,
    ...(where === 'metadata' ? { in: where } : {}),
    ...(query.all === '1' ? { all: '1' } : {}),
  };
  const question = { kind: 'text' as const, where, needles: answer.value.needles };
  return show(deps, { query: text, question, parameters, page: query.page }, answer, reply);
}

async function hashResults(
  deps: AppDependencies,
  query: ResultsQuery,
  hash: string,
  reply: FastifyReply,
): Promise<FastifyReply> {
  if (!/^[0-9a-f]{64}$/u.test(hash)) {
    throw new AppError('request_invalid', 'hash is not a sha256 in 64 hex digits');
  }
  const answer = await deps.search.hashSearch({
    signal: clientGone(reply),
    hash: Buffer.from(hash, 'hex'),
    page: query.page,
    itemsPerPage: resultsPerPage,
  });
  const question = { kind: 'hash' as const, hash };
  return show(deps, { query: hash, question, parameters: { hash }, page: query.page }, answer, reply);
}

interface Asked {
  readonly query: string;
  readonly question: ResultsQuestion;
  readonly parameters: Readonly<Record<string, string>>;
  readonly page: number;
}

async function show(
  deps: AppDependencies,
  asked: Asked,
  { tip, value }: { readonly tip: Tip | null; readonly value: RecordPage },
  reply: FastifyReply,
): Promise<FastifyReply> {
  const view = {
    ...asked,
    site: siteOf(deps.network, tip),
    cards: value.records.map(recordCard),
    totalItems: value.totalItems,
    totalPages: Math.ceil(value.totalItems / resultsPerPage),
    ...(asked.question.kind === 'text' ? await namedBy(deps, asked.query) : { numbered: null, height: null }),
  };
  return sendPage(reply, resultsPage(view));
}

function recordCard(record: SearchRecord): Card {
  return {
    id: record.inscriptionid,
    number: record.inscriptionnumber === null ? null : Number(record.inscriptionnumber),
    height: Number(record.blockheight),
    contentType: record.contenttypestr,
    sizeBytes: record.contentlength === null ? null : Number(record.contentlength),
    text: record.contentstr,
  };
}

/** The inscription that has a text as its number, and the block that has it as its height. */
async function namedBy(
  { pool }: AppDependencies,
  text: string,
): Promise<Pick<ResultsView, 'numbered' | 'height'>> {
  if (!/^-?\d{1,9}$/u.test(text)) return { numbered: null, height: null };
  const number = Number(text);
  return withSnapshot(pool, async ({ client }) => {
    const detail = await inscriptionDetail(client, { kind: 'number', number });
    const block = await blockAt(client, { kind: 'height', height: number });
    return {
      numbered: detail && { id: formatInscriptionId(detail.id.txid, detail.id.index), number },
      height: block?.height ?? null,
    };
  });
}
