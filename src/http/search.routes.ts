import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import type { RecordPage, SearchRecord, SearchService } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { App, AppDependencies } from './app-dependencies.ts';
import { clientGone } from './client-gone.ts';
import { answeredUnchanged, setMoment } from './conditional.ts';
import { needlesHeader } from './needles-header.ts';
import { findTarget } from './ord-search.ts';
import {
  hashAnswer,
  hashesAnswer,
  hashesBody,
  lookupAnswer,
  lookupQuery,
  metadataQuery,
  searchPath,
  searchQuery,
  textAnswer,
} from './search.schemas.ts';

interface TextQuestion {
  readonly corpus: Corpus;
  readonly text: string;
  readonly phrase?: string | undefined;
  readonly pending: boolean;
  readonly page: number;
  readonly itemsPerPage: number;
}

/** The searches of the interface (4.6), the bulk look-up of hashes, and the redirects of ord's `/search`. */
export function searchRoutes(app: App, { pool, search, network }: AppDependencies): void {
  const tags = ['search'];

  app.route({
    method: 'GET',
    url: '/search',
    schema: {
      operationId: 'search',
      summary: 'Inscriptions whose content contains a text, or has a hash',
      tags,
      querystring: searchQuery,
      response: { 200: { anyOf: [textAnswer, hashAnswer] } },
    },
    handler: async (request, reply) => {
      const { text, hash, query, phrase, page, itemsPerPage } = request.query;
      const pending = isSet(request.query.pending);
      oneOf({ text, hash, query });
      if (query !== undefined) return reply.redirect(await findTarget({ pool, network }, query), 303);
      if (await answeredUnchanged(pool, request, reply, pending)) return reply;
      if (text !== undefined) {
        const question = { corpus: 'content', text, phrase, pending, page, itemsPerPage } as const;
        return textSearch(search, question, request, reply);
      }
      const wanted = hashOf(hash ?? '', 'hash');
      const answer = await search.hashSearch({
        hash: wanted,
        pending,
        page,
        itemsPerPage,
        signal: clientGone(reply),
      });
      setMoment(request, reply, answer.tip, answer.mempoolRevision);
      return envelope(answer.value, { page, itemsPerPage }, withoutTexts);
    },
  });

  app.route({
    method: 'GET',
    url: '/search/:query',
    schema: {
      operationId: 'searchByPath',
      summary: 'Redirects to what an identifier names, as ord does',
      tags,
      params: searchPath,
    },
    handler: async (request, reply) =>
      reply.redirect(await findTarget({ pool, network }, request.params.query), 303),
  });

  app.route({
    method: 'GET',
    url: '/indexer/metadata',
    schema: {
      operationId: 'searchMetadata',
      summary: 'Inscriptions whose metadata contain a text',
      tags,
      querystring: metadataQuery,
      response: { 200: textAnswer },
    },
    handler: async (request, reply) => {
      const { text, phrase, page, itemsPerPage } = request.query;
      const pending = isSet(request.query.pending);
      if (text === undefined) throw new AppError('request_invalid', 'text is missing');
      if (await answeredUnchanged(pool, request, reply, pending)) return reply;
      const question = { corpus: 'metadata', text, phrase, pending, page, itemsPerPage } as const;
      return textSearch(search, question, request, reply);
    },
  });

  lookupRoutes(app, { pool, search });
}

function lookupRoutes(app: App, { pool, search }: Pick<AppDependencies, 'pool' | 'search'>): void {
  const tags = ['search'];

  app.route({
    method: 'GET',
    url: '/indexer/inscription',
    schema: {
      operationId: 'lookUpInscription',
      summary: 'Whether an inscription is indexed, and its record',
      tags,
      querystring: lookupQuery,
      response: { 200: lookupAnswer },
    },
    handler: async (request, reply) => {
      const { id: text } = request.query;
      if (text === undefined || text === '') throw new AppError('request_invalid', 'id is missing');
      const id = parseInscriptionId(text);
      if (id === null) throw new AppError('request_invalid', 'id is not an inscription id');
      const pending = isSet(request.query.pending);
      if (await answeredUnchanged(pool, request, reply, pending)) return reply;
      const answer = await search.inscription(id, pending);
      setMoment(request, reply, answer.tip, answer.mempoolRevision);
      return { status: 'ok' as const, results: answer.value === null ? [] : [answer.value] };
    },
  });

  app.route({
    method: 'POST',
    url: '/search/hashes',
    schema: {
      operationId: 'lookUpHashes',
      summary: 'Which of many hashes are new, and the first inscription of each',
      tags,
      body: hashesBody,
      response: { 200: hashesAnswer },
    },
    handler: async (request, reply) => {
      const hashes = request.body.hashes.map((hash, index) => hashOf(hash, `hashes[${index}]`));
      const answer = await search.hashes(hashes, clientGone(reply));
      if (answer.tip !== null) reply.header('x-indexed-height', answer.tip.height);
      const results = answer.value.map(({ hash, first }) => ({
        hash: Buffer.from(hash).toString('hex'),
        new: first === null,
        first: first === null ? null : { ...withoutTexts(first), inscriptionnumber: first.inscriptionnumber },
      }));
      const newCount = results.filter((result) => result.new).length;
      return { status: 'ok' as const, count: results.length, newCount, results };
    },
  });
}

async function textSearch(
  search: SearchService,
  { phrase, ...question }: TextQuestion,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<Envelope<SearchRecord>> {
  const answer = await search.textSearch({
    ...question,
    phrase: isSet(phrase),
    signal: clientGone(reply),
  });
  setMoment(request, reply, answer.tip, answer.mempoolRevision);
  reply.header('x-search-needles', needlesHeader(answer.value.needles));
  return envelope(answer.value, question, (record) => record);
}

const isSet = (flag: string | undefined): boolean => flag === '1' || flag === 'true';

interface Envelope<Result> {
  status: 'ok';
  count: number;
  currentPage: number;
  totalPages: number;
  totalItems: number;
  itemsPerPage: number;
  results: Result[];
}

function envelope<Result>(
  { records, totalItems }: RecordPage,
  { page, itemsPerPage }: { page: number; itemsPerPage: number },
  shown: (record: SearchRecord) => Result,
): Envelope<Result> {
  return {
    status: 'ok',
    count: records.length,
    currentPage: page,
    totalPages: Math.ceil(totalItems / itemsPerPage),
    totalItems,
    itemsPerPage,
    results: records.map(shown),
  };
}

/** The record of a search by hash: the interface's subset, without what the searcher has already or did not ask. */
function withoutTexts(
  record: SearchRecord,
): Omit<SearchRecord, 'inscriptionnumber' | 'contentstr' | 'metadatastr'> {
  const { inscriptionnumber: _number, contentstr: _content, metadatastr: _metadata, ...core } = record;
  return core;
}

function oneOf(parameters: Readonly<Record<string, string | undefined>>): void {
  const given = Object.keys(parameters).filter((name) => parameters[name] !== undefined);
  if (given.length === 1) return;
  const message =
    given.length === 0
      ? 'one of text, hash and query is needed'
      : `only one of text, hash and query can be searched at once, not ${given.join(' and ')}`;
  throw new AppError('request_invalid', message);
}

const sha256Hex = /^[0-9a-f]{64}$/iu;

function hashOf(text: string, name: string): Uint8Array {
  if (!sha256Hex.test(text))
    throw new AppError('request_invalid', `${name} is not a sha256 in 64 hex digits`);
  return Buffer.from(text, 'hex');
}
