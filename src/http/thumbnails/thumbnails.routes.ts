import { readFileSync } from 'node:fs';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { findContent, type StoredContent } from '#chain/inscriptions/content.queries.ts';
import { approvedFile } from '#collections/collection/files.store.ts';
import { isCollectionSlug } from '#collections/reading/read-collection.ts';
import { immutable } from '#http/content/content-headers.ts';
import { decodedBytesMax } from '#http/content/content-measures.ts';
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
import { withCutConnection } from '#kernel/pg/cut-connection.ts';
import {
  formatInscriptionId,
  type InscriptionId,
  parseInscriptionId,
} from '#kernel/primitives/inscription-id.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';
import { isSvg, mediaOf } from '#web/media.ts';
import { type PictureForm, pictureForms } from './drawing.ts';
import { ThumbnailDrawer } from './thumbnail-drawer.ts';
import { ThumbnailFiles } from './thumbnail-files.ts';
import { type Art, givenUpMs, nameOf, Thumbnails, type Undrawn } from './thumbnails.ts';
import { wholeBody } from './whole-body.ts';

const placeholderOf = (name: string): Buffer =>
  readFileSync(new URL(`./placeholders/${name}`, import.meta.url));

/**
 * Empty pictures of 400 × 400 for contents without a picture. WebP placeholders show the reason in a grey that is
 * visible in both themes.
 */
const placeholders: Readonly<Record<PictureForm, Readonly<Record<Undrawn, Buffer>>>> = {
  jpeg: sameForAll(placeholderOf('none.jpeg')),
  webp: {
    none: placeholderOf('none.webp'),
    scripts: placeholderOf('scripts.webp'),
    inscriptions: placeholderOf('inscriptions.webp'),
    'given up': placeholderOf('none.webp'),
  },
};

function sameForAll(picture: Buffer): Readonly<Record<Undrawn, Buffer>> {
  return { none: picture, scripts: picture, inscriptions: picture, 'given up': picture };
}

/** Cache rule if the content may be in the next block. */
const untilItComes = 'public, max-age=10';
const untilTriedAgain = `public, max-age=${givenUpMs / 1000}`;

const thumbnailPath = Type.Object({
  file: Type.String({
    description: 'an inscription id, and `.jpeg` or `.webp`',
    examples: [`${exampleId}.jpeg`],
  }),
});

/** Reads the thumbnail of an inscription as JPEG. `null` if the inscription has no thumbnail. */
export type ThumbnailReader = (asker: Asker, id: InscriptionId) => Promise<Buffer | null>;

/** Routes of `/thumbnails/<id>.jpeg` and `.webp`, which are small pictures of an inscription's content. */
export function thumbnailsRoutes(app: App, deps: PieceDependencies): ThumbnailReader {
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
    help: 'Images since the start that were given to the decoder, and images for which it had to be ended',
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
        'At most 400 × 400: JPEG has a white background, WebP keeps transparency. Contents other than PNG, JPEG, GIF, WebP, AVIF or SVG, or that need scripts or are too large, get a placeholder.',
      tags: ['content'],
      params: thumbnailPath,
      response: { 200: anyBytes('a JPEG or a WebP'), 304: unchanged },
    },
    config: { errors: 'own', guard: open, compression: 'none' },
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      const { id, form } = askedOf(request.params.file);
      const content = await shownContent(reads, asker, id);
      if (content === null) return send(request, reply, form, nonePicture(form, 'none', untilItComes));
      return send(
        request,
        reply,
        form,
        await pictureOf(thumbnails, asker, artOf(reads, content, form), form),
      );
    },
  });
  mintThumbnailRoute(app, deps, thumbnails);
  return async (asker, id) => {
    const content = await shownContent(reads, asker, id);
    const art = content === null ? null : artOf(reads, content, 'jpeg');
    const thumbnail = art === null ? null : await thumbnails.of(asker, art);
    return thumbnail?.kind === 'picture' ? thumbnail.picture : null;
  };
}

/**
 * Route of `/thumbnails/mint/<slug>/<place>.webp`, which is a small picture of an approved file that is not inscribed
 * yet.
 */
function mintThumbnailRoute(
  app: App,
  { pool, orders = null }: PieceDependencies,
  thumbnails: Thumbnails,
): void {
  apiRoute(app, {
    method: 'GET',
    url: '/thumbnails/mint/:slug/:file',
    schema: {
      operationId: 'mintThumbnail',
      summary: 'A small picture of a file of a collection for sale',
      description:
        'The same as for inscriptions, only as WebP. Only files that an operator approved are shown.',
      tags: ['collections'],
      params: Type.Object({
        slug: Type.String({ description: 'slug of the collection', examples: ['moths'] }),
        file: Type.String({ description: 'place of the file, from 0, and `.webp`', examples: ['0.webp'] }),
      }),
      response: { 200: anyBytes('a WebP'), 304: unchanged },
    },
    config: { errors: 'own', guard: open, compression: 'none' },
    handler: async (request, reply) => {
      const { slug, file } = request.params;
      const asker = askerOf(reply);
      const [, place] = /^(0|[1-9][0-9]{0,5})\.webp$/u.exec(file) ?? [];
      const stored =
        place === undefined || !isCollectionSlug(slug)
          ? null
          : await withCutConnection(pool, asker.signal, (client) =>
              approvedFile(client, slug, Number(place)),
            );
      if (stored === null || orders === null) throw new AppError('not_found', 'there is no such file');
      const { sha256, mediaType } = stored;
      const kind = kindOf(mediaType);
      const image = () => orders.approvedContent(sha256);
      const art = kind === null ? null : ({ sha256, encoding: null, image, kind, form: 'webp' } as const);
      return send(request, reply, 'webp', await pictureOf(thumbnails, asker, art, 'webp'));
    },
  });
}

/** Parses the id and the format in a path. Throws `request_invalid`. */
function askedOf(file: string): { readonly id: InscriptionId; readonly form: PictureForm } {
  for (const form of pictureForms) {
    const id = file.endsWith(`.${form}`) ? parseInscriptionId(file.slice(0, -form.length - 1)) : null;
    if (id !== null) return { id, form };
  }
  throw new AppError('request_invalid', 'this is not an inscription id with .jpeg or .webp at its end');
}

interface Picture {
  /** The entity tag of the shown content. */
  readonly tag: string;
  readonly cache: string;
  readonly picture: Buffer;
}

const nonePicture = (form: PictureForm, why: Undrawn, cache: string): Picture => ({
  tag: why === 'none' || why === 'given up' ? 'none' : why,
  cache,
  picture: placeholders[form][why],
});

/**
 * The content that an inscription shows. `null` if the inscription exists, but its content is not known yet. Throws
 * `not_found`.
 */
async function shownContent(
  reads: ContentReads,
  asker: Asker,
  id: InscriptionId,
): Promise<StoredContent | null> {
  return reads.read(asker, async (client) => {
    const lookup = await findContent(client, id);
    if (lookup.kind === 'found') return lookup.content;
    if (lookup.kind === 'delegate-unknown') return null;
    throw new AppError('not_found', `inscription ${formatInscriptionId(id.txid, id.index)} not found`);
  });
}

/** The drawable part of a content. `null` if there is nothing to draw. */
function artOf(
  reads: ContentReads,
  { contentType, contentEncoding, body }: StoredContent,
  form: PictureForm,
): Art | null {
  const encoding = undoneEncoding(contentEncoding);
  const kind = kindOf(utf8OrNull(contentType));
  if (body === null || encoding === 'unknown' || kind === null) return null;
  const image = (asker: Asker) => wholeBody(reads, asker, { body, encoding }, decodedBytesMax);
  return { sha256: body.sha256, encoding, image, kind, form };
}

async function pictureOf(
  thumbnails: Thumbnails,
  asker: Asker,
  art: Art | null,
  form: PictureForm,
): Promise<Picture> {
  if (art === null) return nonePicture(form, 'none', immutable);
  const thumbnail = await thumbnails.of(asker, art);
  if (thumbnail.kind === 'picture') return { tag: nameOf(art), cache: immutable, picture: thumbnail.picture };
  return nonePicture(form, thumbnail.why, thumbnail.why === 'given up' ? untilTriedAgain : immutable);
}

function kindOf(contentType: string | null): Art['kind'] | null {
  if (isSvg(contentType)) return 'svg';
  return mediaOf(contentType) === 'image' ? 'pixels' : null;
}

function send(
  request: FastifyRequest,
  reply: FastifyReply,
  form: PictureForm,
  { tag, cache, picture }: Picture,
): FastifyReply {
  const quoted = `"${tag}"`;
  reply.header('cache-control', cache).header('etag', quoted);
  if (matchesTag(request.headers['if-none-match'], quoted)) return reply.code(304).send();
  return reply.type(`image/${form}`).send(picture);
}
