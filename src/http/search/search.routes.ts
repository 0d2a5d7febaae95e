import type { FastifyReply, FastifyRequest } from 'fastify';
import { readCoverage } from '#chain/blocks/coverage.queries.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { type Guard, redirects, searches } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { sendJsonInTurns } from '#http/server/budgets/json-in-turns.ts';
import { seeOther, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { roomRoutes } from '#http/server/routes/room-routes.ts';
import type { SearchFilter } from '#kernel/contracts/search-engine.ts';
import type {
  RecordPage,
  SearchRecord,
  SearchService,
  TextSearch,
} from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { finds } from '#search/text/text-question.ts';
import { needlesHeader } from './needles-header.ts';
import { ordTarget } from './resolving/ord-targets.ts';
import {
  hashAnswer,
  hashesAnswer,
  hashesBody,
  lookupAnswer,
  lookupQuery,
  searchPath,
  textAnswer,
} from './search.schemas.ts';
import {
  isSet,
  matchOf,
  metadataQuery,
  searchFilterOf,
  searchPagingOf,
  searchQuery,
  withoutTextOptions,
} from './search-parameters.ts';
import { hashOf, requireOneOf } from './validate-parameters.ts';

/** Routes of the searches of the interface (4.6), of the check of many hashes, and of ord's `/search` redirects. */
export function searchRoutes(app: App, { pool, search, network }: AppDependencies): void {
  const tags = ['search'] as const;
  roomRoutes(app, ['/search/*', '/indexer', '/indexer/*'], 'search');

  apiRoute(app, {
    method: 'GET',
    url: '/search',
    schema: {
      operationId: 'search',
      summary: 'Inscriptions whose content contains a text, or has a hash',
      tags,
      querystring: searchQuery,
      response: { 200: { anyOf: [textAnswer, hashAnswer] }, 303: seeOther, 304: unchanged },
    },
    config: { errors: 'search', guard: guardOf, failures: [410], answersLarge: true },
    handler: async (request, reply) => {
      const { text, hash, query } = request.query;
      requireOneOf({ text, hash, query });
      if (query !== undefined)
        return reply.redirect(await ordTarget({ pool, network }, query, askerOf(reply)), 303);
      const { highlight, ...paging } = searchPagingOf(request.query);
      const asked = withFilter(paging, searchFilterOf(request.query));
      if (text !== undefined) {
        const question = { corpus: 'content', text, highlight, ...matchOf(request.query), ...asked } as const;
        if (await answeredUnchanged(pool, request, reply, paging.pending)) return reply;
        return textSearch(search, question, request, reply);
      }
      withoutTextOptions(request.query, 'a search by hash');
      const wanted = hashOf(hash ?? '', 'hash');
      if (await answeredUnchanged(pool, request, reply, paging.pending)) return reply;
      const answer = await search.hashSearch({ hash: wanted, ...asked, asker: askerOf(reply) });
      setMoment(request, reply, answer.tip, answer.mempoolRevision);
      return sendJsonInTurns(reply, envelope(answer.value, paging, withoutTexts));
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/search/:query',
    schema: {
      operationId: 'searchByPath',
      summary: 'Redirects to the page of the thing that an identifier names, as on ord',
      tags,
      params: searchPath,
      response: { 303: seeOther },
    },
    config: { errors: 'search', guard: redirects },
    handler: async (request, reply) =>
      reply.redirect(await ordTarget({ pool, network }, request.params.query, askerOf(reply)), 303),
  });

  metadataRoute(app, { pool, search });
  lookupRoutes(app, { pool, search, network });
}

function metadataRoute(app: App, { pool, search }: Pick<AppDependencies, 'pool' | 'search'>): void {
  apiRoute(app, {
    method: 'GET',
    url: '/indexer/metadata',
    schema: {
      operationId: 'searchMetadata',
      summary: 'Inscriptions whose metadata contains a text',
      tags: ['search'],
      querystring: metadataQuery,
      response: { 200: textAnswer, 304: unchanged },
    },
    config: { errors: 'search', guard: searches('metadata'), failures: [410], answersLarge: true },
    handler: async (request, reply) => {
      const { text } = request.query;
      const { highlight, ...paging } = searchPagingOf(request.query);
      const filter = searchFilterOf(request.query);
      if (text === undefined && !finds(filter)) throw new AppError('request_invalid', 'text is missing');
      const question = {
        corpus: 'metadata',
        ...(text === undefined ? {} : { text }),
        highlight,
        ...matchOf(request.query),
        ...withFilter(paging, filter),
      } as const;
      if (await answeredUnchanged(pool, request, reply, paging.pending)) return reply;
      return textSearch(search, question, request, reply);
    },
  });
}

function lookupRoutes(
  app: App,
  { pool, search, network }: Pick<AppDependencies, 'pool' | 'search' | 'network'>,
): void {
  const tags = ['search'] as const;

  apiRoute(app, {
    method: 'GET',
    url: '/indexer/inscription',
    schema: {
      operationId: 'lookUpInscription',
      summary: 'Whether an inscription is indexed, and its record',
      tags,
      querystring: lookupQuery,
      response: { 200: lookupAnswer, 304: unchanged },
    },
    // a record contains the content, of up to 4 MB
    config: { errors: 'search', guard: searches('inscription'), answersLarge: true },
    handler: async (request, reply) => {
      const { id: text } = request.query;
      if (text === undefined || text === '') throw new AppError('request_invalid', 'id is missing');
      const id = parseInscriptionId(text);
      if (id === null) throw new AppError('request_invalid', 'id is not an inscription id');
      const pending = isSet(request.query.pending);
      if (await answeredUnchanged(pool, request, reply, pending)) return reply;
      const answer = await search.inscription(id, pending, askerOf(reply));
      setMoment(request, reply, answer.tip, answer.mempoolRevision);
      return sendJsonInTurns(reply, { status: 'ok', results: answer.value === null ? [] : [answer.value] });
    },
  });

  apiRoute(app, {
    method: 'POST',
    url: '/search/hashes',
    schema: {
      operationId: 'lookUpHashes',
      summary: 'Which of many hashes are new, and the first inscription of each',
      tags,
      body: hashesBody,
      response: { 200: hashesAnswer },
    },
    config: { errors: 'own', guard: searches('hashes'), answersLarge: true },
    handler: async (request, reply) => {
      const hashes = request.body.hashes.map((hash, index) => hashOf(hash, `hashes[${index}]`));
      const asker = askerOf(reply);
      const answer = await search.hashes(hashes, asker);
      if (answer.tip !== null) reply.header('x-indexed-height', answer.tip.height);
      const results = answer.value.map(({ hash, first }) => ({
        hash: Buffer.from(hash).toString('hex'),
        new: first === null,
        first: first === null ? null : { ...withoutTexts(first), inscriptionnumber: first.inscriptionnumber },
      }));
      const newCount = results.filter((result) => result.new).length;
      const coverage = await withCutConnection(pool, asker.signal, (client) =>
        readCoverage(client, network, answer.tip),
      );
      return sendJsonInTurns(reply, { status: 'ok', count: results.length, newCount, coverage, results });
    },
  });
}

/** The guard of `/search`. If `query` is the only parameter, the path redirects to a page without searching. */
function guardOf({ query, text, hash }: Readonly<Record<string, unknown>>): Guard {
  return query !== undefined && text === undefined && hash === undefined ? redirects : searches('search');
}

async function textSearch(
  search: SearchService,
  question: TextSearch,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const answer = await search.textSearch({ ...question, asker: askerOf(reply) });
  setMoment(request, reply, answer.tip, answer.mempoolRevision);
  reply.header('x-search-needles', needlesHeader(answer.value.needles));
  return sendJsonInTurns(
    reply,
    envelope(answer.value, question, (record) => record),
  );
}

const withFilter = <Asked extends object>(
  asked: Asked,
  filter: SearchFilter | undefined,
): Asked & { filter?: SearchFilter } => (filter === undefined ? asked : { ...asked, filter });

interface Envelope<Result> {
  status: 'ok';
  count: number;
  currentPage: number;
  totalPages: number;
  totalItems: number;
  itemsPerPage: number;
  nextCursor?: string | null;
  results: Result[];
}

function envelope<Result>(
  { records, totalItems, page, nextCursor }: RecordPage,
  { itemsPerPage }: { readonly itemsPerPage: number },
  shown: (record: SearchRecord) => Result,
): Envelope<Result> {
  return {
    status: 'ok',
    count: records.length,
    currentPage: page,
    totalPages: Math.ceil(totalItems / itemsPerPage),
    totalItems,
    itemsPerPage,
    ...(nextCursor === undefined ? {} : { nextCursor }),
    results: records.map(shown),
  };
}

/**
 * The record of a search by hash, in the interface's form. It lacks fields that the client already has, or did not
 * request.
 */
function withoutTexts(
  record: SearchRecord,
): Omit<SearchRecord, 'inscriptionnumber' | 'contentstr' | 'metadatastr'> {
  const { inscriptionnumber: _number, contentstr: _content, metadatastr: _metadata, ...core } = record;
  return core;
}
