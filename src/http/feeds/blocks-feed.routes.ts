import { blocksBelow } from '#chain/blocks/block.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { grouped, plural, sizeWords } from '#web/format.ts';
import { feedAnswer, feedEntries, feedId, sendFeed } from './send-feed.ts';

/**
 * Route of `/blocks.atom`, a feed of the newest blocks. If a reorganisation replaces a block, the new block is a new
 * entry.
 */
export function blocksFeedRoutes(app: App, { pool, network, publicOrigin = null }: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/blocks.atom',
    schema: {
      operationId: 'blocksFeed',
      summary: 'The newest blocks as an Atom feed',
      tags: ['feeds'],
      response: { 200: feedAnswer, 304: unchanged },
    },
    config: { errors: 'ownPage', guard: open },
    handler: async (request, reply) => {
      const blocks = await withSnapshot(
        pool,
        ({ client }) => blocksBelow(client, null, feedEntries),
        askerOf(reply).signal,
      );
      return sendFeed(request, reply, publicOrigin, {
        id: feedId(network.name, 'blocks'),
        title: `Blocks of ${network.name}`,
        page: '/blocks',
        entries: blocks.map(({ height, hash, time, inscriptionCount, txCount, sizeBytes }) => ({
          id: feedId(network.name, 'block', displayHash(hash)),
          title: `Block ${grouped(height)}: ${plural(inscriptionCount, 'inscription')}`,
          href: `/block/${height}`,
          updated: time,
          summary: `${plural(inscriptionCount, 'inscription')} in ${plural(txCount, 'transaction')}, ${sizeWords(sizeBytes)}, hash ${displayHash(hash)}`,
        })),
      });
    },
  });
}
