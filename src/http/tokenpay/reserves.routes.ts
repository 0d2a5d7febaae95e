import type { FastifyReply } from 'fastify';
import { Type } from 'typebox';
import { askerOf } from '#http/server/access/asker.ts';
import { readsOrders, shopRequests } from '#http/server/access/guard.ts';
import { matchesTag } from '#http/server/answers/conditional.ts';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { jsonText, unchanged } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import {
  type ReservesDocument,
  readReserves,
  readReservesAccount,
  readReservesPage,
} from '#tokenpay/reserves/reserves.store.ts';
import { keyOf } from './key-of.ts';
import { documentQuery, reservesDocument, reservesOfAccount, reservesPage } from './reserves.schemas.ts';

const tags = ['token payments'] as const;
const querystring = Type.Object(documentQuery);
/**
 * How long caches keep a document if its name is in the request, in seconds. A document never changes. A request for
 * the last document is always revalidated.
 */
const cacheSeconds = 60 * 60;
/** Maximum number of a page. The pages up to this number have 10,000,000 outputs. */
const pageMax = 100_000;

/** Routes of the public proof of reserves (docs/tokenpay.md; ADR 92). */
export function reservesRoutes(app: App, deps: AppDependencies): void {
  documentRoute(app, deps);
  pageRoute(app, deps);
  accountRoute(app, deps);
}

function documentRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/tokenpay/reserves',
    schema: {
      operationId: 'reserves',
      summary: 'Liabilities to the accounts of shops, and the wallet’s outputs that cover them, at a block',
      description: 'Headers like those of webhooks sign the bytes of the document.',
      tags,
      querystring,
      response: { 200: jsonText(reservesDocument, 'the document'), 304: unchanged },
    },
    config: { errors: 'tokenpay', guard: readsOrders, failures: [404, 503] },
    handler: async (request, reply) => {
      const { hash, document, signed } = await found(deps, request.query.document);
      const tag = `"${hexOf(hash)}"`;
      cached(reply, request.query.document).header('etag', tag);
      if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send() as never;
      reply.header('webhook-id', signed.id).header('webhook-timestamp', String(signed.timestamp));
      return sendText(reply.header('webhook-signature', signed.signatures), document);
    },
  });
}

function pageRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/tokenpay/reserves/outputs',
    schema: {
      operationId: 'reservesOutputs',
      summary: 'A page of the outputs of a document of reserves, with a proof of each address',
      tags,
      querystring: Type.Object({
        ...documentQuery,
        page: Type.Optional(
          Type.Integer({ minimum: 1, maximum: pageMax, default: 1, description: 'from 1: 100 outputs each' }),
        ),
      }),
      response: { 200: jsonText(reservesPage, 'the page') },
    },
    config: { errors: 'tokenpay', guard: readsOrders, failures: [404, 503] },
    handler: async (request, reply) => {
      const { document, page = 1 } = request.query;
      const { hash } = await found(deps, document);
      const body = await readReservesPage(deps.pool, hash, page);
      if (body === null)
        throw new AppError('not_found', 'the document has no page of outputs with this number');
      return sendText(cached(reply, document), body);
    },
  });
}

function accountRoute(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/tokenpay/reserves/mine',
    schema: {
      operationId: 'reservesOfAccount',
      summary: 'The liabilities to the account of the key in a document of reserves, with their paths',
      tags,
      querystring,
      response: { 200: jsonText(reservesOfAccount, 'liabilities and debts') },
    },
    config: { errors: 'tokenpay', guard: shopRequests, failures: [404, 503] },
    handler: async (request, reply) => {
      const { account } = keyOf(askerOf(reply).key);
      const { hash } = await found(deps, request.query.document);
      const nothing = { document: hexOf(hash), account, liabilities: [], debts: [] };
      const body = await readReservesAccount(deps.pool, hash, account);
      return sendText(reply.header('cache-control', 'no-store'), body ?? JSON.stringify(nothing));
    },
  });
}

const noDocument = {
  message:
    'document must be the SHA-256 of a document, 64 hex digits in lower case, as in its ETag. Leave it out for the last document.',
  parameter: 'document',
} as const;

/**
 * Finds the document that a text names. Throws `request_invalid` for an invalid text, `not_found` if the document is no
 * longer kept, and `orders_off` before the first document.
 */
async function found({ pool }: AppDependencies, document: string | undefined): Promise<ReservesDocument> {
  if (document !== undefined && !/^[0-9a-f]{64}$/u.test(document)) throw new InvalidRequest([noDocument]);
  const made = await readReserves(pool, document === undefined ? null : Buffer.from(document, 'hex'));
  if (made !== null) return made;
  if (document !== undefined)
    throw new AppError(
      'not_found',
      'this document of reserves is no longer kept; start again with the last document, /tokenpay/reserves',
    );
  throw new AppError(
    'orders_off',
    'there is no proof of reserves yet, because there are no orders of shops, or the first proof is still being made',
  );
}

const cached = (reply: FastifyReply, document: string | undefined): FastifyReply =>
  reply.header(
    'cache-control',
    document === undefined ? 'no-cache' : `public, max-age=${cacheSeconds}, immutable`,
  );

const sendText = (reply: FastifyReply, text: string): never =>
  reply.type('application/json; charset=utf-8').send(text) as never;

const hexOf = (hash: Uint8Array): string => Buffer.from(hash).toString('hex');
