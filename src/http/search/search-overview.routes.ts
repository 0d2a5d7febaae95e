import { choice } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { searches } from '#http/server/access/guard.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Corpus } from '#kernel/contracts/search-engine.ts';
import type { CountedFacets, FacetsQuestion } from '#kernel/contracts/search-service.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { finds } from '#search/text/text-question.ts';
import type { MeaningKind } from '#web/parts/meaning-cards.ts';
import { needlesHeader } from './needles-header.ts';
import { isOrderId } from './resolving/order-id.ts';
import { resolve } from './resolving/resolve.ts';
import { facetsAnswer, suggestAnswer, suggestQuery } from './search.schemas.ts';
import {
  type FacetsQuery,
  facetsQuery,
  isSet,
  matchOf,
  searchFilterOf,
  withoutTextOptions,
} from './search-parameters.ts';
import { hashOf, requireOneOf } from './validate-parameters.ts';

/** Maximum number of characters of a text with suggestions. Longer texts are pasted, not typed. */
const suggestedCharsMax = 200;
const dayMs = 86_400_000;

/** Routes of the counts of a search, and of completions for a text while it is being typed. */
export function searchOverviewRoutes(app: App, deps: AppDependencies): void {
  const { pool, search } = deps;
  const tags = ['search'] as const;

  apiRoute(app, {
    method: 'GET',
    url: '/search/facets',
    schema: {
      operationId: 'searchFacets',
      summary: 'The number of inscriptions that a search finds, by content type and by day',
      tags,
      querystring: facetsQuery,
      response: { 200: facetsAnswer, 304: unchanged },
    },
    config: { errors: 'own', guard: searches('facets') },
    handler: async (request, reply) => {
      const question = questionOf(request.query);
      if (await answeredUnchanged(pool, request, reply)) return reply;
      const answer = await search.facets({ ...question, asker: askerOf(reply) });
      setMoment(request, reply, answer.tip);
      if (answer.value.needles.length > 0)
        reply.header('x-search-needles', needlesHeader(answer.value.needles));
      return counted(answer.value);
    },
  });

  apiRoute(app, {
    method: 'GET',
    url: '/search/suggest',
    schema: {
      operationId: 'suggestSearch',
      summary: 'Words that could complete a text, and the things that the text names',
      tags,
      querystring: suggestQuery,
      response: { 200: suggestAnswer },
    },
    config: { errors: 'own', guard: searches('suggest') },
    handler: async (request, reply) => {
      const { text } = request.query;
      if (text === undefined) throw invalid('text is missing', 'text');
      if (text.length > suggestedCharsMax || text.trim() === '' || isOrderId(text))
        return { status: 'ok' as const, words: [], names: [] };
      const { tip, value } = await search.suggest(text, askerOf(reply));
      const asker = askerOf(reply);
      // do not ask the node at every keystroke
      const meanings = await resolve(deps, { text, asker, detail: 'name', transactions: null });
      const names = meanings
        .filter(({ certainty }) => certainty !== 'possible')
        .map(({ kind, label, path }) => ({ kind, name: suggestedName(kind, label), path }));
      setMoment(request, reply, tip);
      const words = value.words.map(({ word, contents }) => ({ text: value.before + word, word, contents }));
      return { status: 'ok' as const, words, names };
    },
  });
}

/** The name of a suggestion. For an inscription it includes the kind, because a number alone says little. */
const suggestedName = (kind: MeaningKind, label: string): string =>
  kind === 'inscription' ? `Inscription ${label}` : label;

/** Parses the question in a query. Throws `request_invalid` with the name of the parameter. */
function questionOf(query: FacetsQuery): FacetsQuestion {
  const { text, hash } = query;
  const corpus = choice(query.corpus, 'corpus', ['content', 'metadata']) ?? 'content';
  if (isSet(query.pending))
    throw invalid('pending excludes facets, because facets only count indexed blocks', 'pending');
  checkCorpus(corpus, query);
  const filter = searchFilterOf(query);
  const narrowed = filter === undefined ? {} : { filter };
  if (hash !== undefined) {
    withoutTextOptions(query, 'a search by hash');
    return { hash: hashOf(hash, 'hash'), ...narrowed };
  }
  if (text === undefined && !finds(filter)) throw invalid('text is missing', 'text');
  return { corpus, ...(text === undefined ? {} : { text }), ...matchOf(query), ...narrowed };
}

/** Refuses parameters that the search of this corpus does not have. Throws `request_invalid`. */
function checkCorpus(corpus: Corpus, { text, hash, key, value }: FacetsQuery): void {
  if (corpus === 'content') {
    if (key !== undefined || value !== undefined)
      throw invalid('key and value need corpus=metadata', key === undefined ? 'value' : 'key');
    requireOneOf({ text, hash });
  } else if (hash !== undefined) {
    throw invalid('hash needs corpus=content', 'hash');
  }
}

const invalid = (message: string, parameter: string): AppError =>
  new AppError('request_invalid', message, { parameter });

function counted({ totalItems, types, otherTypes, days }: CountedFacets) {
  return {
    status: 'ok' as const,
    totalItems,
    types: types.map(({ contentType, count }) => ({ contentType, count })),
    otherTypes,
    days: days.map(({ day, count }) => ({ day: new Date(day * dayMs).toISOString().slice(0, 10), count })),
  };
}
