import type { FastifyReply } from 'fastify';
import type pg from 'pg';
import { readBody, type StoredContent } from '#chain/inscriptions/content.queries.ts';
import { page } from '#http/server/answer-schemas.ts';
import { apiRoute } from '#http/server/api-route.ts';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { open } from '#http/server/guard.ts';
import { roomRoutes } from '#http/server/room-routes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { mediaOf, mediaWords } from '#web/media.ts';
import { type Preview, previewPage } from '#web/preview.page.ts';
import {
  contentAnswers,
  contentFailures,
  contentOf,
  inscriptionPath,
  sendContent,
} from './content.routes.ts';
import { inscribedHeaders } from './content-headers.ts';

/** The most text that a frame shows; the rest is at `/content`. */
const previewTextBytes = 64 * 1024;

/**
 * `/preview/<id>`: an inscription in a frame. HTML and SVG are sent as they are; other types are wrapped in a page of
 * ours.
 */
export function previewRoutes(app: App, { pool }: AppDependencies): void {
  roomRoutes(app, ['/preview', '/preview/*'], 'text');
  apiRoute(app, {
    method: 'GET',
    url: '/preview/:id',
    schema: {
      operationId: 'preview',
      summary: 'A page for a frame that shows the content of an inscription',
      tags: ['content'],
      params: inscriptionPath,
      response: { ...contentAnswers, 404: page('a page for the frame: the content is not available') },
    },
    config: { errors: 'text', guard: open, failures: contentFailures, compression: 'none' },
    handler: async (request, reply) => {
      const id = request.params.id.toLowerCase();
      const content = await contentOf(pool, id).catch((error: unknown) => noContent(error, reply));
      if (content === null) return reply;
      const media = mediaOf(utf8OrNull(content.contentType));
      // only the browser can decode encoded bodies
      const isSentAsItIs = media === 'frame' || (media === 'text' && content.contentEncoding !== null);
      if (isSentAsItIs && content.body !== null) return sendContent(pool, content, request, reply);
      return reply
        .headers(inscribedHeaders)
        .header('cache-control', 'public, max-age=3600')
        .type('text/html; charset=utf-8')
        .send(previewPage(await previewOf(pool, id, content)).text);
    },
  });
}

/** Errors are shown inside the frame too. */
function noContent(error: unknown, reply: FastifyReply): null {
  if (!(error instanceof AppError) || error.code !== 'not_found') throw error;
  const shown = previewPage({ kind: 'none', words: error.message });
  reply
    .code(404)
    .headers(inscribedHeaders)
    .header('cache-control', 'no-store')
    .type('text/html; charset=utf-8')
    .send(shown.text);
  return null;
}

async function previewOf(pool: pg.Pool, id: string, content: StoredContent): Promise<Preview> {
  const { body } = content;
  if (body === null) return { kind: 'none', words: 'no content' };
  const type = utf8OrNull(content.contentType);
  const media = mediaOf(type);
  switch (media) {
    case 'text': {
      const head = await readBody(pool, body, previewTextBytes);
      if (head === null) throw new AppError('not_found', 'this inscription no longer has a content');
      const text = new TextDecoder().decode(head);
      return { kind: 'text', text, isCut: body.sizeBytes > previewTextBytes };
    }
    case 'image':
    case 'audio':
    case 'video':
    case 'font':
      return { kind: media, url: `/content/${id}` };
    case 'frame':
    case 'other':
      return { kind: 'none', words: mediaWords(type) };
    default:
      return unreachable(media);
  }
}
