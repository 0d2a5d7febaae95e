import type { FastifyReply } from 'fastify';
import { blocksBelow, chainCounts, inscriptionSummaries } from '#chain/blocks/block.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { LiveFacts } from '#http/live/live-facts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open, pageSearches } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { blockLine, cardOf, siteOf } from '#http/server/answers/site.ts';
import { page as pageAnswer, seeOther, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { homePage } from '#web/pages/home.page.ts';
import type { ResultsDependencies } from './named-results.ts';
import { hasOrderId, isSearch, orderIdRoute, resultsQuery, resultsRoute } from './results-route.ts';
import { Showcase } from './showcase.ts';

/** Number of newest blocks on the first page. */
const latestBlocks = 25;

/** Paths that the page's scripts request: the first inscription of a file and its time, and news. */
const connects = ['/search/hashes', '/r/inscription/', '/live'];

/** Route of the first page, which also shows the results of a search. */
export function homeRoutes(app: App, deps: ResultsDependencies, live: LiveFacts): void {
  const showcase = new Showcase(deps.operations.pool);
  apiRoute(app, {
    method: 'GET',
    url: '/',
    schema: {
      operationId: 'home',
      summary: 'The search page',
      tags: ['pages'],
      querystring: resultsQuery,
      response: { 200: pageAnswer('the page'), 303: seeOther, 304: unchanged },
    },
    config: {
      errors: 'plain',
      guard: (query) => (isSearch(query) ? pageSearches : open),
      failures: [410],
      isDear: isSearch,
    },
    handler: async (request, reply) => {
      if (hasOrderId(request.query)) return orderIdRoute(deps, reply);
      return isSearch(request.query)
        ? resultsRoute(deps, request.query, reply)
        : home(deps, { showcase, live }, reply);
    },
  });
}

async function home(
  deps: AppDependencies,
  { showcase, live }: { readonly showcase: Showcase; readonly live: LiveFacts },
  reply: FastifyReply,
): Promise<FastifyReply> {
  return withSnapshot(
    deps.pool,
    async ({ client, tip }) => {
      const counts = await chainCounts(client);
      const latest = await blocksBelow(client, null, latestBlocks);
      const summaries = await inscriptionSummaries(client, await showcase.keys(tip));
      const view = {
        site: siteOf(deps, tip),
        ...counts,
        cards: summaries.map(cardOf),
        latest: latest.map(blockLine),
        live: await live.read(client),
      };
      return sendPage(reply, homePage(view), { thumbnails: true, connects });
    },
    askerOf(reply).signal,
  );
}
