import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { announcedBytes } from '#http/bodies/announced-body.ts';
import { isMediaType } from '#http/bodies/parsing/media-types.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { uploadsFiles } from '#http/server/access/guard.ts';
import { Shares } from '#http/server/budgets/shares.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { originOf } from '#http/server/headers/request-origin.ts';
import { strictObject } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { contentTypeOf } from '#kernel/requests/file-types.ts';
import { textFault } from '#kernel/text/text-fault.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import type { StoredUpload, Upload } from '#orders/customers/customer-uploads.ts';
import { fileBytesMax } from '#orders/files/file-bounds.ts';
import { answerOnce, onceHeaders } from './answer-once.ts';

/** Maximum number of characters of a file name. The key of a file has the same limit, also in a path. */
const nameCharsMax = 400;
/**
 * Maximum number of uploads at the same time. Each upload holds a file open, and a disk writes only a few files at a
 * time.
 */
const placesMax = 32;
/**
 * Maximum number of uploads of one client at the same time. It is a quarter of all uploads. A browser or a program
 * opens about as many connections.
 */
const placesEach = 8;
/** Media types that programs send for any file. */
const typesOfAnything: ReadonlySet<string> = new Set([
  'application/octet-stream',
  'application/x-www-form-urlencoded',
]);

const uploaded = strictObject({
  url: Type.String({
    description: 'URL of the file; orders accept it as `url` and as `metadataUrl`',
  }),
  s3Key: Type.String({ description: 'its key in that URL: a random id and its name' }),
  size: Type.Integer({ description: 'bytes' }),
  sha256: Type.String({ description: 'SHA-256 of its bytes, in hex' }),
});

/**
 * Routes for files that holders of keys upload. Orders and collections name these files by URL (docs/orders-api.md,
 * "Uploads").
 */
export function uploadsRoutes(app: App, { orders = null, operations }: AppDependencies): void {
  const places = new Shares({
    what: 'uploads',
    total: placesMax,
    each: placesEach,
    full: () => new AppError('bodies_busy', 'too many files are being uploaded; try again in a few seconds'),
  });
  operations.metrics.watchQueue('uploads', () => places.state);
  apiRoute(app, {
    method: 'PUT',
    url: '/files/:key',
    bodyLimit: fileBytesMax,
    schema: {
      operationId: 'uploadFile',
      summary: 'Stores a file that orders and collections can name by URL; its body is the file',
      tags: ['orders'],
      headers: onceHeaders,
      params: Type.Object({
        key: Type.String({
          description: 'the name of the file',
          maxLength: nameCharsMax,
          examples: ['cube.html'],
        }),
      }),
      body: Type.Unknown({ description: `the bytes of the file, ${fileBytesMax} at most` }),
      response: { 200: uploaded },
    },
    config: {
      errors: 'own',
      guard: uploadsFiles,
      failures: [409, 422],
      sink: async (request, reply) => {
        nameOf(request);
        const { uploads } = opened(orders);
        const asker = askerOf(reply);
        places.take(asker);
        return uploads.begin(announcedBytes(request), asker);
      },
    },
    handler: async (request, reply) => {
      reply.header('cache-control', 'no-store');
      return stored(opened(orders), request, reply);
    },
  });
}

async function stored(orders: CustomerOrders, request: FastifyRequest, reply: FastifyReply) {
  const upload = request.body as Upload;
  const asker = askerOf(reply);
  const name = nameOf(request);
  const mediaType = typeOf(request, name);
  const origin = originOf(request, orders.publicOrigin);
  const answerOf = ({ s3Key, size, sha256 }: StoredUpload) => ({
    url: `${origin}/files/${encodeURIComponent(s3Key)}`,
    s3Key,
    size,
    sha256,
  });
  return answerOnce(
    orders,
    request,
    asker,
    async (store) =>
      answerOf(
        await orders.uploads.store(upload, { name, mediaType }, asker, (tx, made) =>
          store(tx, answerOf(made)),
        ),
      ),
    { name, mediaType, sha256: upload.sha256 },
  );
}

/** The orders of this service. Throws `orders_off`. */
function opened(orders: CustomerOrders | null): CustomerOrders {
  if (orders === null)
    throw new AppError('orders_off', 'this service accepts no orders, and no files for orders');
  return orders;
}

/** The name in the path. It is checked before the body is read. Throws `request_invalid`. */
function nameOf({ params }: FastifyRequest): string {
  const { key: name } = params as { readonly key: string };
  const reason = name.length > nameCharsMax ? `has more than ${nameCharsMax} characters` : textFault(name);
  if (reason !== null)
    throw new InvalidRequest([{ message: `the name ${reason}`, parameter: 'key', place: 'path' }]);
  return name;
}

/** The media type that the client names. If this type fits any file, the file name decides the type. */
function typeOf({ headers }: FastifyRequest, name: string): string {
  const named = headers['content-type'] ?? '';
  const [type = ''] = named.split(';', 1);
  if (isMediaType(named) && !typesOfAnything.has(type.trim().toLowerCase())) return named;
  return contentTypeOf(name) ?? 'application/octet-stream';
}
