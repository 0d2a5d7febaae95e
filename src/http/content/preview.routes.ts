import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import type { StoredContent } from '#chain/inscriptions/content.queries.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import { page } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { roomRoutes } from '#http/server/routes/room-routes.ts';
import { type EncodingName, encodingOf } from '#indexer/parse/content-decoding.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { utf8OrNull } from '#kernel/text/utf8.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { type Media, mediaOf, mediaWords } from '#web/media.ts';
import { type Preview, previewPage } from '#web/pages/preview.page.ts';
import {
  contentAnswers,
  contentFailures,
  contentOf,
  inscriptionPath,
  sendContent,
} from './content.routes.ts';
import { inscribedHeaders, isSentEncoded } from './content-headers.ts';
import { ContentMeasures } from './content-measures.ts';
import { boundsOf, type PreviewSize, tooLarge } from './preview-bounds.ts';

/** Maximum number of bytes of a text that a frame shows. The complete text is at `/content`. */
const previewTextBytes = 64 * 1024;

const previewQuery = Type.Object({
  size: Type.Optional(
    Type.Unsafe<PreviewSize>(
      Type.Union([Type.Literal('card'), Type.Literal('full')], {
        description: 'card: for a list, with smaller bounds and without autoplay',
        default: 'full',
      }),
    ),
  ),
});

/**
 * Route of `/preview/<id>`, which shows an inscription in a frame. HTML and SVG are sent unchanged. Other types are
 * embedded in one of our pages. A content that would need more memory than a browser has is only described in words
 * (preview-bounds.ts).
 */
export function previewRoutes(app: App, reads: ContentReads): void {
  const measures = new ContentMeasures(reads);
  roomRoutes(app, ['/preview', '/preview/*'], 'text');
  apiRoute(app, {
    method: 'GET',
    url: '/preview/:id',
    schema: {
      operationId: 'preview',
      summary: 'A page for a frame that shows the content of an inscription',
      tags: ['content'],
      params: inscriptionPath,
      querystring: previewQuery,
      response: { ...contentAnswers, 404: page('a page for the frame: the content is not available') },
    },
    config: { errors: 'text', guard: open, failures: contentFailures, compression: 'none' },
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      const id = request.params.id.toLowerCase();
      const content = await contentOf(reads, asker, id).catch((error: unknown) => noContent(error, reply));
      if (content === null) return reply;
      const asked = { id, size: request.query.size ?? 'full' };
      const preview = await previewOf(measures, asker, asked, content);
      if (preview === 'as it is') return sendContent(reads, asker, content, request, reply);
      return reply
        .headers(inscribedHeaders)
        .header('cache-control', 'public, max-age=3600')
        .type('text/html; charset=utf-8')
        .send(previewPage(preview).text);
    },
  });
}

/** Shows an error inside the frame. */
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

interface AskedPreview {
  readonly id: string;
  readonly size: PreviewSize;
}

/** The content of a frame. `as it is` means that the frame receives the body unchanged. */
async function previewOf(
  measures: ContentMeasures,
  asker: Asker,
  { id, size }: AskedPreview,
  { contentType, contentEncoding, body }: StoredContent,
): Promise<Preview | 'as it is'> {
  if (body === null) return { kind: 'none', words: 'no content' };
  const type = utf8OrNull(contentType);
  const media = mediaOf(type);
  if (media === 'other') return { kind: 'none', words: mediaWords(type) };
  const encoding = undoneEncoding(contentEncoding);
  const still = (why: string): Preview => ({ kind: 'none', words: stillWords(why, id, size) });
  // a browser may support more encodings than we do, and a body in such an encoding may be a decompression bomb
  if (encoding === 'unknown') return still('in an encoding that is not decoded here');
  const encoded = { body, encoding };
  if (media === 'text') {
    const head = await measures.head(asker, encoded, previewTextBytes);
    if (head === null) return still(`${mediaWords(type)} that does not decode`);
    return { kind: 'text', text: new TextDecoder().decode(head.bytes), isCut: head.isCut };
  }
  const measure = await measures.measure(asker, encoded, media === 'image');
  const why =
    tooLarge(body.sizeBytes, measure, boundsOf(size)) ??
    // the size of an image is unknown if its format is not known here
    (media === 'image' && measure.pixels === null ? mediaWords(type) : null);
  return why === null ? shownAs(media, { id, size }) : still(why);
}

function shownAs(media: Exclude<Media, 'text' | 'other'>, { id, size }: AskedPreview): Preview | 'as it is' {
  switch (media) {
    case 'frame':
      return 'as it is';
    case 'image':
      return { kind: media, url: `/content/${id}` };
    case 'audio':
    case 'video':
    case 'font':
      return { kind: media, url: `/content/${id}`, isStill: size === 'card' };
    default:
      return unreachable(media);
  }
}

/** The encoding that a browser must decode before it shows a body. `null` if the body is sent without an encoding. */
export function undoneEncoding(stored: StoredContent['contentEncoding']): EncodingName | 'unknown' | null {
  if (stored === null || !isSentEncoded(stored)) return null;
  return encodingOf(stored) ?? 'unknown';
}

/**
 * The words for a content that is not shown. A card contains only the reason, because the card links to the page of its
 * inscription. A frame that shows one inscription alone also contains the path of the body.
 */
function stillWords(why: string, id: string, size: PreviewSize): string {
  return size === 'card' ? why : `${why}, so it is not shown here, but at /content/${id}`;
}
