import type { TSchema } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { watchRequests } from '#http/server/access/guard.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { pageOrJson } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { shownFinding } from '#watches/shown-finding.ts';
import type { Watch, WatchKind } from '#watches/watch.ts';
import { FindingWaits } from './finding-waits.ts';
import { readAsked } from './read-asked.ts';
import { refuseTooBroad } from './search-breadth.ts';
import {
  createdSearch,
  createdWatch,
  findingsAnswer,
  findingsQuery,
  oneSearch,
  oneWatch,
  searchBody,
  searchList,
  watchBody,
  watchList,
  watchPath,
} from './watch.schemas.ts';
import { foundWatch, neededWatches, ownerOf, watchAnswer } from './watch-answers.ts';
import { watchFeedRoute } from './watch-feed.routes.ts';
import { guardOfWatches, sendWatchesPage, watchPageRoutes } from './watch-pages.routes.ts';

/** Names and schemas of a family of paths. */
interface Family {
  readonly url: '/searches' | '/watches';
  /** Kind of the watches that the paths show. Null: all kinds. */
  readonly kind: WatchKind | null;
  readonly operation: 'Search' | 'Watch';
  /** The thing in summaries. */
  readonly words: string;
  /** Field of the answer with one thing. */
  readonly field: 'search' | 'watch';
  readonly one: TSchema;
}

const searchFamily: Family = {
  url: '/searches',
  kind: 'search',
  operation: 'Search',
  words: 'saved search',
  field: 'search',
  one: oneSearch,
};
const watchFamily: Family = {
  url: '/watches',
  kind: null,
  operation: 'Watch',
  words: 'watch',
  field: 'watch',
  one: oneWatch,
};

const tags = ['watches'] as const;

/** Routes of saved searches and of other watches of keys (docs/watches.md). */
export function watchesRoutes(app: App, deps: AppDependencies): void {
  createSearchRoute(app, deps);
  createWatchRoute(app, deps);
  listSearchesRoute(app, deps);
  listWatchesRoute(app, deps);
  const waits = new FindingWaits(app, deps);
  for (const family of [searchFamily, watchFamily]) {
    readRoute(app, deps, family);
    deleteRoute(app, deps, family);
    findingsRoute(app, deps, family, waits);
    watchFeedRoute(app, deps, family);
  }
  watchPageRoutes(app, deps);
}

function createSearchRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/searches',
    schema: {
      operationId: 'createSearch',
      summary: 'Saves a search, which finds what arrives from now on in the mempool and in blocks',
      tags,
      body: searchBody,
      response: { 200: createdSearch },
    },
    config: { errors: 'own', guard: watchRequests, failures: [409] },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const asker = askerOf(reply);
      const { id: keyId } = ownerOf(asker.key);
      const watches = neededWatches(deps);
      const asked = await readAsked('search', request.body, { ...deps, watches }, asker.signal);
      await refuseTooBroad(deps, asked.subject, asker);
      const { watch, webhookSecret } = await watches.create(keyId, asked);
      const search = await watchAnswer(request, { ...deps, watches }, watch);
      return { status: 'ok', search, ...(webhookSecret === null ? {} : { webhookSecret }) } as never;
    },
  });
}

function createWatchRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'POST',
    url: '/watches',
    schema: {
      operationId: 'createWatch',
      summary: 'Watches sales, children of an inscription, runes, or the receipts of an address',
      tags,
      body: watchBody,
      response: { 200: createdWatch },
    },
    config: { errors: 'own', guard: watchRequests, failures: [409] },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const asker = askerOf(reply);
      const { id: keyId } = ownerOf(asker.key);
      const watches = neededWatches(deps);
      const asked = await readAsked(null, request.body, { ...deps, watches }, asker.signal);
      const { watch: made, webhookSecret } = await watches.create(keyId, asked);
      const watch = await watchAnswer(request, { ...deps, watches }, made);
      return { status: 'ok', watch, ...(webhookSecret === null ? {} : { webhookSecret }) } as never;
    },
  });
}

function listSearchesRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/searches',
    schema: {
      operationId: 'listSearches',
      summary: 'The saved searches of the key, oldest first',
      tags,
      response: { 200: searchList },
    },
    config: { errors: 'own', guard: watchRequests },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { id: keyId } = ownerOf(askerOf(reply).key);
      const watches = neededWatches(deps);
      const shown = (watch: Watch): Promise<object> => watchAnswer(request, { ...deps, watches }, watch);
      const searches = await Promise.all((await watches.list(keyId, 'search')).map(shown));
      return { status: 'ok', searches } as never;
    },
  });
}

function listWatchesRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/watches',
    schema: {
      operationId: 'listWatches',
      summary:
        'All watches of the key, saved searches included, oldest first; as a page, those of the browser’s key',
      tags,
      response: { 200: pageOrJson(watchList, 'the watches') },
    },
    config: { errors: 'own', guard: guardOfWatches },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      if (prefersHtml(request.headers.accept)) return sendWatchesPage(deps, request, reply);
      const { id: keyId } = ownerOf(askerOf(reply).key);
      const watches = neededWatches(deps);
      const shown = (watch: Watch): Promise<object> => watchAnswer(request, { ...deps, watches }, watch);
      return {
        status: 'ok',
        watches: await Promise.all((await watches.list(keyId, null)).map(shown)),
      } as never;
    },
  });
}

function readRoute(app: App, deps: AppDependencies, family: Family): void {
  const { url, kind, operation, words, field, one } = family;
  apiRoute(app, {
    method: 'GET',
    url: `${url}/:id`,
    schema: {
      operationId: `read${operation}`,
      summary: `A ${words} of the key`,
      tags,
      params: watchPath(`a ${words}`),
      response: { 200: one },
    },
    config: { errors: 'own', guard: watchRequests },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { id: keyId } = ownerOf(askerOf(reply).key);
      const watches = neededWatches(deps);
      const watch = foundWatch(await watches.read(keyId, request.params.id, kind), kind);
      return { status: 'ok', [field]: await watchAnswer(request, { ...deps, watches }, watch) } as never;
    },
  });
}

function deleteRoute(app: App, deps: AppDependencies, family: Family): void {
  const { url, kind, operation, words, field, one } = family;
  apiRoute(app, {
    method: 'DELETE',
    url: `${url}/:id`,
    schema: {
      operationId: `delete${operation}`,
      summary: `Deletes a ${words} of the key, with its findings; the answer has its last state`,
      tags,
      params: watchPath(`a ${words}`),
      response: { 200: one },
    },
    config: { errors: 'own', guard: watchRequests },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { id: keyId } = ownerOf(askerOf(reply).key);
      const watches = neededWatches(deps);
      const watch = foundWatch(await watches.delete(keyId, request.params.id, kind), kind);
      const shown = await watchAnswer(request, { ...deps, watches }, watch);
      return { status: 'ok', [field]: { ...shown, active: false } } as never;
    },
  });
}

function findingsRoute(app: App, deps: AppDependencies, family: Family, waits: FindingWaits): void {
  const { url, kind, operation, words } = family;
  apiRoute(app, {
    method: 'GET',
    url: `${url}/:id/findings`,
    schema: {
      operationId: `findingsOf${operation}`,
      summary: `Findings of a ${words} that changed after a number, in the order of their changes`,
      tags,
      params: watchPath(`a ${words}`),
      querystring: findingsQuery,
      response: { 200: findingsAnswer },
    },
    config: { errors: 'own', guard: watchRequests },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      const { id: keyId } = ownerOf(askerOf(reply).key);
      const watches = neededWatches(deps);
      const watch = foundWatch(await watches.read(keyId, request.params.id, kind), kind);
      const { after, limit, wait } = request.query;
      const asked = { after, limit, waitMs: wait * 1000 };
      const { findings, lastNumber, more } =
        wait === 0
          ? await watches.findings(watch, after, limit)
          : await watches.nextFindings(watch, asked, waits.start(reply, askerOf(reply)));
      return { status: 'ok', findings: findings.map(shownFinding), lastNumber, more } as never;
    },
  });
}
