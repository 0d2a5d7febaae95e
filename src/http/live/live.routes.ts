import { Type } from 'typebox';
import { asStream } from '#http/events/event-streams.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import type { LiveStreams } from './live-streams.ts';

const liveStream = {
  description: 'server-sent events `parts`: an object with the HTML of each part that changed',
  content: { 'text/event-stream': { schema: Type.Unknown() } },
};

/** Maximum number of characters of an id. Our ids are shorter. */
const idCharsMax = 64;

/**
 * Route of `/live`, which sends the changing parts of pages. Only our own pages may use this path, and its format may
 * change together with them.
 */
export function liveRoutes(app: App, streams: LiveStreams): void {
  apiRoute(app, {
    method: 'GET',
    url: '/live',
    schema: {
      operationId: 'livePages',
      summary: 'The parts of our pages about the present, as server-sent events',
      tags: ['pages'],
      response: { 200: liveStream },
    },
    // no compression, because it would need a megabyte of memory for each page, for events of only a kilobyte
    config: { errors: 'own', guard: open, compression: 'none' },
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      asStream(reply, true);
      if (request.method === 'HEAD') return reply.send('');
      streams.takePlace(asker);
      const seen = request.headers['last-event-id'];
      return streams.send(reply, asker, typeof seen === 'string' && seen.length <= idCharsMax ? seen : null);
    },
  });
}
