import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { matchesTag } from '#http/server/answers/conditional.ts';
import { anyBytes, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import { roomRoutes } from '#http/server/routes/room-routes.ts';
import { ThumbnailFiles } from '#http/thumbnails/thumbnail-files.ts';
import type { ThumbnailReader } from '#http/thumbnails/thumbnails.routes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type PictureFacts, pictureFacts, pictureKinds, siteFacts } from './picture-facts.ts';
import { Pictures } from './pictures.ts';

const suffix = '.png';
/**
 * Maximum size of all stored pictures, in bytes. That is enough for 3,000 pictures of 30 kB. Thumbnails may take ten
 * times as much.
 */
const filesBytes = 100_000_000;

const path = Type.Object({
  kind: Type.Unsafe<string>({ type: 'string', enum: pictureKinds, description: 'the kind of its subject' }),
  file: Type.String({
    description: 'the subject as in the path of its page, and `.png`',
    examples: ['767430.png'],
  }),
});

/**
 * Routes of `/og/…`. They send the pictures that sites show for links to pages of this server (Open Graph), in the size
 * 1200 × 630.
 */
export function picturesRoutes(app: App, deps: PieceDependencies, thumbnailOf: ThumbnailReader): void {
  const { pool, network, logger, operations, thumbnailsFolder = null } = deps;
  const folder = thumbnailsFolder === null ? null : `${thumbnailsFolder}-shared`;
  const pictures = new Pictures(folder === null ? null : new ThumbnailFiles(folder, filesBytes), (error) =>
    logger.warn({ err: error }, 'a picture of a page was not written'),
  );
  app.addHook('onClose', async () => pictures.close());
  operations.metrics.watchQueue('pictures', () => pictures.waiting);
  roomRoutes(app, ['/og', '/og/*'], 'own');

  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    facts: PictureFacts,
  ): Promise<FastifyReply> => {
    const asker = askerOf(reply);
    const { art, ...texts } = facts;
    const thumbnail = art === null ? null : await thumbnailOf(asker, art).catch(unlessGone);
    const { name, png } = await pictures.of(asker, { ...texts, network: network.name, thumbnail });
    if (png === null)
      throw new AppError('contents_busy', 'the picture could not be drawn; try again in a few minutes');
    const tag = `"${name.slice(0, 27)}"`;
    reply.header('cache-control', 'public, max-age=3600').header('etag', tag);
    if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
    return reply.type('image/png').send(png);
  };
  const summary = 'The picture that sites show for a link to a page';
  const response = { 200: anyBytes('a PNG'), 304: unchanged };
  const config = { errors: 'own', guard: open, compression: 'none' } as const;

  apiRoute(app, {
    method: 'GET',
    url: '/og/site.png',
    schema: { operationId: 'sitePicture', summary, tags: ['pages'], response },
    config,
    handler: async (request, reply) => send(request, reply, siteFacts),
  });

  apiRoute(app, {
    method: 'GET',
    url: '/og/:kind/:file',
    schema: { operationId: 'picture', summary, tags: ['pages'], params: path, response },
    config,
    handler: async (request, reply) => {
      const { kind, file } = request.params;
      if (!file.endsWith(suffix))
        throw new AppError('request_invalid', 'the name of a picture ends with .png');
      const name = file.slice(0, -suffix.length);
      const facts = await withSnapshot(
        pool,
        ({ client }) => pictureFacts(client, kind, name),
        askerOf(reply).signal,
      );
      return send(request, reply, facts);
    },
  });
}

/**
 * Returns null for `not_found`, because a picture without its art is better than no picture. Throws all other errors,
 * for example if the server is busy and the client should retry later.
 */
function unlessGone(error: unknown): null {
  if (error instanceof AppError && error.code === 'not_found') return null;
  throw error;
}
