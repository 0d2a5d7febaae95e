import { Type } from 'typebox';
import { feedAnswer, feedEntries, feedId, sendFeed } from '#http/feeds/send-feed.ts';
import { watchPages } from '#http/server/access/guard.ts';
import { unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Finding, WatchKind } from '#watches/watch.ts';
import type { FeedEntry } from '#web/feeds/atom.ts';
import { stateWords, watchTitle } from '#web/parts/watch-words.ts';
import { findingLine } from './finding-lines.ts';
import { exampleWatch } from './watch.schemas.ts';
import { neededWatches, noFeed } from './watch-answers.ts';

interface FeedFamily {
  readonly url: '/searches' | '/watches';
  readonly kind: WatchKind | null;
  readonly operation: 'Search' | 'Watch';
  readonly words: string;
}

/** Route of the feed of a watch. Feed readers send no headers, so a token in the URL takes the place of the key. */
export function watchFeedRoute(app: App, deps: AppDependencies, family: FeedFamily): void {
  const { url, kind, operation, words } = family;
  const { network, publicOrigin = null } = deps;
  apiRoute(app, {
    method: 'GET',
    url: `${url}/:id.atom`,
    schema: {
      operationId: `feedOf${operation}`,
      summary: `The newest findings of a ${words} as an Atom feed`,
      tags: ['watches'],
      params: Type.Object({
        id: Type.String({ description: `the id of a ${words}`, examples: [exampleWatch] }),
      }),
      querystring: Type.Object({
        token: Type.Optional(
          Type.String({
            description: 'the token in feedUrl',
            examples: ['0123456789abcdef0123456789abcdef'],
          }),
        ),
      }),
      response: { 200: feedAnswer, 304: unchanged },
    },
    config: { errors: 'own', guard: watchPages },
    handler: async (request, reply) => {
      const { id } = request.params;
      const watches = neededWatches(deps);
      const watch = await watches.ofFeed(id, request.query.token ?? '');
      if (watch === null || (kind !== null && watch.kind !== kind)) throw noFeed();
      const findings = await watches.newest(watch, feedEntries);
      const subject = watch.kind === 'search' ? 'a saved search' : `a watch of ${watch.kind}`;
      const entryOf = (finding: Finding): FeedEntry => {
        const { href, name, detail, height, changedAt } = findingLine(finding, watch.kind);
        const state = `${stateWords[finding.state]}${height === null ? '' : ` ${height}`}`;
        return {
          // a new state is a new version of the same entry
          id: feedId(network.name, 'finding', finding.id),
          title: `${name}${detail === null ? '' : ` ${detail}`}: ${state}`,
          href,
          updated: changedAt,
          summary: `Found by ${subject}, ${state}`,
        };
      };
      reply.header('cache-control', 'private, no-cache');
      return sendFeed(request, reply, publicOrigin, {
        id: feedId(network.name, 'watch', id),
        title: watchTitle(watch.kind, watch.condition),
        page: '/watches',
        entries: findings.map(entryOf),
      });
    },
  });
}
