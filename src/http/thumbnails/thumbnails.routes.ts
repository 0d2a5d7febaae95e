import { readFileSync } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { findContent, type StoredContent } from '#chain/inscriptions/content.queries.ts';
import { isPendingInscription } from '#chain/pending/pending.queries.ts';
import { immutable } from '#http/content/content-headers.ts';
import { undoneEncoding } from '#http/content/preview.routes.ts';
import { exampleId } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { matchesTag } from '#http/server/answers/conditional.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import { anyBytes, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import { roomRoutes } from '#http/server/routes/room-routes.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';
import { mediaOf } from '#web/media.ts';
import { ThumbnailDrawer } from './thumbnail-drawer.ts';
import { ThumbnailFiles } from './thumbnail-files.ts';
import { givenUpMs, nameOf, Thumbnails } from './thumbnails.ts';

const suffix = '.jpeg';

/** For what has no picture: an empty frame of 400 × 400. */
const placeholder = readFileSync(new URL('./placeholder.jpeg', import.meta.url));

/** Where the content may come with the next block. */
const untilItComes = 'public, max-age=10';
const untilTriedAgain = `public, max-age=${givenUpMs / 1000}`;

const thumbnailPath = Type.Object({
  file: Type.String({
    description: 'an inscription id, and `.jpeg`',
    examples: [`${exampleId}${suffix}`],
  }),
});

/** `/thumbnails/<id>.jpeg`: a small picture of what an inscription shows. */
export function thumbnailsRoutes(app: App, deps: PieceDependencies): void {
  const { contents: reads, operations, logger, thumbnailsFolder = null } = deps;
  const drawer = new ThumbnailDrawer();
  const thumbnails = new Thumbnails({
    reads,
    drawer,
    files: thumbnailsFolder === null ? null : new ThumbnailFiles(thumbnailsFolder),
    onUnwritten: (error) => logger.warn({ err: error }, 'a thumbnail was not written'),
  });
  app.addHook('onClose', async () => drawer.close());
  operations.metrics.watchQueue('thumbnails', () => thumbnails.waiting);
  operations.metrics.read({
    name: 'satscribe_thumbnails_drawn',
    help: 'Images since the start that were given to the decoder, and those on which it was ended',
    labels: ['result'],
    values: () => [
      { labels: { result: 'tried' }, value: drawer.counts.tried },
      { labels: { result: 'given_up' }, value: drawer.counts.givenUp },
    ],
  });
  roomRoutes(app, ['/thumbnails', '/thumbnails/*'], 'own');
  apiRoute(app, {
    method: 'GET',
    url: '/thumbnails/:file',
    schema: {
      operationId: 'thumbnail',
      summary: 'A small picture of an inscription',
      description:
        'Within 400 × 400, as JPEG. What is no PNG, JPEG, GIF, WebP or AVIF, or too large, has a placeholder.',
      tags: ['content'],
      params: thumbnailPath,
      response: { 200: anyBytes('a JPEG'), 304: unchanged },
    },
    config: { errors: 'own', guard: open, compression: 'none' },
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      const content = await shownContent(reads, asker, request.params.file);
      if (content === null)
        return send(request, reply, { tag: 'none', cache: untilItComes, jpeg: placeholder });
      return send(request, reply, await pictureOf(thumbnails, asker, content));
    },
  });
}

interface Picture {
  /** What it shows. */
  readonly tag: string;
  readonly cache: string;
  readonly jpeg: Buffer;
}

/**
 * What an inscription shows; null: it is there, but not yet its content. Throws `request_invalid` and `not_found`.
 */
async function shownContent(reads: ContentReads, asker: Asker, file: string): Promise<StoredContent | null> {
  const id = file.endsWith(suffix) ? parseInscriptionId(file.slice(0, -suffix.length)) : null;
  if (id === null)
    throw new AppError('request_invalid', 'this is not an inscription id with .jpeg at its end');
  return reads.read(asker, async (client) => {
    const lookup = await findContent(client, id);
    if (lookup.kind === 'found') return lookup.content;
    if (lookup.kind === 'delegate-unknown' || (await isPendingInscription(client, id))) return null;
    throw new AppError('not_found', `inscription ${formatInscriptionId(id.txid, id.index)} not found`);
  });
}

async function pictureOf(
  thumbnails: Thumbnails,
  asker: Asker,
  { contentType, contentEncoding, body }: StoredContent,
): Promise<Picture> {
  const never = { tag: 'none', cache: immutable, jpeg: placeholder };
  const encoding = undoneEncoding(contentEncoding);
  if (body === null || encoding === 'unknown' || mediaOf(utf8OrNull(contentType)) !== 'image') return never;
  const thumbnail = await thumbnails.of(asker, body, encoding);
  if (thumbnail.kind === 'jpeg')
    return { tag: nameOf(body, encoding), cache: immutable, jpeg: thumbnail.jpeg };
  return thumbnail.kind === 'none' ? never : { ...never, cache: untilTriedAgain };
}

function send(request: FastifyRequest, reply: FastifyReply, { tag, cache, jpeg }: Picture): FastifyReply {
  const quoted = `"${tag}"`;
  reply.header('cache-control', cache).header('etag', quoted);
  if (matchesTag(request.headers['if-none-match'], quoted)) return reply.code(304).send();
  return reply.type('image/jpeg').send(jpeg);
}
