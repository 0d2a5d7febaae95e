import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { findContent, type StoredContent } from '#chain/inscriptions/content.queries.ts';
import { exampleId } from '#http/parameters/list-parameters.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { matchesTag } from '#http/server/answers/conditional.ts';
import type { ContentReads } from '#http/server/budgets/content-reads.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { anyBytes, noBody, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { roomRoutes } from '#http/server/routes/room-routes.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { formatInscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { chooseEncoding, contentTypeHeader, immutable, inscribedHeaders } from './content-headers.ts';
import { type ByteRange, rangeOf } from './range.ts';

export const inscriptionPath = Type.Object({
  id: Type.String({
    description: 'an inscription id',
    examples: [exampleId],
    acceptedForm: acceptedForms.inscriptionId,
  }),
});

/** Responses of a path that sends a stored body. */
export const contentAnswers = {
  200: anyBytes('the body, with its inscribed content type'),
  206: anyBytes('the requested range of the body'),
  304: unchanged,
  416: noBody('the range starts after the end'),
};
/** Statuses of errors about a body that the client cannot decode. */
export const contentFailures = [406];

/** `/content/<id>`: the stored body of an inscription, or of its delegate, as ord serves it. */
export function contentRoutes(app: App, reads: ContentReads): void {
  roomRoutes(app, ['/content', '/content/*'], 'text');
  apiRoute(app, {
    method: 'GET',
    url: '/content/:id',
    schema: {
      operationId: 'content',
      summary: 'The content of an inscription',
      tags: ['content'],
      params: inscriptionPath,
      response: contentAnswers,
    },
    config: { errors: 'text', guard: open, failures: contentFailures, compression: 'none' },
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      return sendContent(reads, asker, await contentOf(reads, asker, request.params.id), request, reply);
    },
  });
}

/**
 * Returns the content that an inscription shows: its own body, or its delegate's. Throws `request_invalid` and
 * `not_found`.
 */
export async function contentOf(reads: ContentReads, asker: Asker, text: string): Promise<StoredContent> {
  const id = parseInscriptionId(text);
  if (id === null) throw new AppError('request_invalid', 'this is not an inscription id');
  const lookup = await reads.read(asker, (client) => findContent(client, id));
  switch (lookup.kind) {
    case 'found':
      return lookup.content;
    case 'unknown':
      throw new AppError('not_found', `inscription ${formatInscriptionId(id.txid, id.index)} not found`);
    case 'delegate-unknown': {
      const { txid, index } = lookup.delegate;
      throw new AppError('not_found', `delegate ${formatInscriptionId(txid, index)} not found`);
    }
    default:
      return unreachable(lookup);
  }
}

/**
 * The cache rule of a content. Caches must not keep the content of a pending inscription, because it may never be in a
 * block.
 */
const keepingOf = ({ body }: StoredContent): string => (body?.contentId === null ? 'no-store' : immutable);

/**
 * Sends a stored body with ord's headers and an opaque origin. Sends 406 if the client does not accept its encoding.
 * Sending stops when the client disconnects.
 */
export async function sendContent(
  reads: ContentReads,
  asker: Asker,
  content: StoredContent,
  request: FastifyRequest,
  reply: FastifyReply,
  cacheControl = keepingOf(content),
): Promise<FastifyReply> {
  const choice = chooseEncoding(content.contentEncoding, request.headers['accept-encoding']);
  if (content.contentEncoding !== null) reply.header('vary', 'Accept-Encoding');
  if (choice.kind === 'refuse') {
    const accepted = request.headers['accept-encoding'];
    const given = accepted === undefined ? 'no Accept-Encoding header' : `Accept-Encoding: ${accepted}`;
    throw new AppError(
      'not_acceptable',
      `the content is encoded as \`${choice.encoding}\`, but the request does not accept this encoding (${given})`,
    );
  }
  if (content.body === null) throw new AppError('not_found', 'this inscription has no content');
  const { sizeBytes, sha256 } = content.body;
  const tag = `"${Buffer.from(sha256).toString('hex')}"`;
  // Like ord, do not send nosniff. With it, a browser would refuse a text/plain inscription that another inscription
  // loads as a script. The sandbox policy already protects our origin.
  reply.removeHeader('x-content-type-options');
  reply.headers(inscribedHeaders).header('cache-control', cacheControl).header('etag', tag);
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  const range = askedRange(request, tag, sizeBytes);
  if (range === 'none') {
    const size = `bytes */${sizeBytes}`;
    return reply.code(416).header('content-range', size).header('cache-control', 'no-store').send();
  }
  const { first, last } = range ?? { first: 0, last: sizeBytes - 1 };
  const part = { from: first, count: last + 1 - first };
  const pieces = request.method === 'HEAD' ? [] : await reads.pieces(asker, content.body, part);
  if (choice.encoding !== null) reply.header('content-encoding', choice.encoding);
  reply
    .header('content-type', contentTypeHeader(content.contentType))
    .header('accept-ranges', 'bytes')
    .header('content-length', part.count);
  if (range !== null) reply.code(206).header('content-range', `bytes ${first}-${last}/${sizeBytes}`);
  // send a stream, because Fastify would replace an unreadable content type if the body were a buffer
  return reply.send(Readable.from(pieces, { objectMode: false }));
}

/**
 * The requested range. `null` means that the complete body is sent, for example because `If-Range` names another
 * version of the body. Only GET requests have ranges (RFC 9110, 14.2).
 */
function askedRange(request: FastifyRequest, tag: string, sizeBytes: number): ByteRange | 'none' | null {
  if (request.method !== 'GET') return null;
  const begun = request.headers['if-range'];
  return begun === undefined || begun === tag ? rangeOf(request.headers.range, sizeBytes) : null;
}
