import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Type } from 'typebox';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';
import { type Asker, ownerOf } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { parseExactly } from '#kernel/text/exact-number.ts';
import { bodyHash } from '#orders/creating/body-hash.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';

/** Stores an answer in the database transaction that creates the order. */
export type StoreAnswer = (tx: pg.ClientBase, answer: object) => Promise<void>;

const header = 'idempotency-key';

/** Request headers in the schemas of paths that create something. */
export const onceHeaders = Type.Object({
  [header]: Type.Optional(
    Type.String({ description: 'a repeated creation with the same key gets the first answer' }),
  ),
});
const keyPattern = /^[!-~]{1,255}$/u;
const storesNothing: StoreAnswer = () => Promise.resolve();

/**
 * Answers a request that creates something, for example an order. With an `Idempotency-Key`, a client that repeats its
 * request gets the first answer again, even if that answer never arrived. `make` must call its argument in the database
 * transaction that creates. Throws `request_invalid`, `idempotency_key_reused` and `idempotency_key_busy`.
 *
 * @param body the parts of the request that stay the same when the request is repeated
 */
export async function answerOnce<Answer extends object>(
  orders: CustomerOrders,
  request: FastifyRequest,
  asker: Asker,
  make: (store: StoreAnswer) => Promise<Answer>,
  body: unknown = request.body,
): Promise<Answer> {
  const key = request.headers[header];
  if (key === undefined) return make(storesNothing);
  if (typeof key !== 'string' || !keyPattern.test(key))
    throw new InvalidRequest([
      { message: 'Idempotency-Key must be 1 to 255 visible ASCII characters', parameter: header },
    ]);
  const route = `${request.method} ${request.routeOptions.url ?? ''}`;
  const keyed = { route, owner: ownerOf(asker), key, bodyHash: await bodyHash(body) };
  const state = await orders.claimKey(keyed);
  if (state.kind === 'answered') return parseExactly(state.answer) as Answer;
  if (state.kind === 'reused')
    throw new AppError(
      'idempotency_key_reused',
      'this Idempotency-Key was already used with a different body; send a new key',
    );
  if (state.kind === 'busy')
    throw new AppError(
      'idempotency_key_busy',
      'the first request with this Idempotency-Key is still being processed; try again in a few seconds',
    );
  try {
    return await make((tx, answer) => orders.answerKey(tx, keyed, state.claim, answer));
  } catch (error) {
    // the claim also ends by itself, so a failure here is harmless
    await orders.giveUpKey(keyed, state.claim).catch(() => undefined);
    throw error;
  }
}
