import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import type pg from 'pg';
import { Type } from 'typebox';
import { InvalidRequest } from '#http/server/requests/validation.ts';
import { nextTurn } from '#kernel/concurrency/turns.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';

/** Stores an answer in the transaction of what it tells of. */
export type StoreAnswer = (tx: pg.ClientBase, answer: object) => Promise<void>;

const header = 'idempotency-key';

/** For the schemas of creations. */
export const onceHeaders = Type.Object({
  [header]: Type.Optional(
    Type.String({ description: 'the same creation again, with the same key, gets the first answer' }),
  ),
});
const keyPattern = /^[!-~]{1,255}$/u;
const storesNothing: StoreAnswer = () => Promise.resolve();

/**
 * Answers a creation; with an `Idempotency-Key` once: the same request again gets the first answer, whether it was
 * received or not. `make` must call what it is given in the transaction that creates. Throws `request_invalid`,
 * `idempotency_key_reused` and `idempotency_key_busy`.
 */
export async function answerOnce<Answer extends object>(
  orders: CustomerOrders,
  request: FastifyRequest,
  make: (store: StoreAnswer) => Promise<Answer>,
): Promise<Answer> {
  const key = request.headers[header];
  if (key === undefined) return make(storesNothing);
  if (typeof key !== 'string' || !keyPattern.test(key))
    throw new InvalidRequest([
      { message: 'Idempotency-Key must be 1 to 255 visible ASCII characters', parameter: header },
    ]);
  const route = `${request.method} ${request.routeOptions.url ?? ''}`;
  const keyed = { route, key, bodyHash: await hashOf(request.body) };
  const state = await orders.claimKey(keyed);
  if (state.kind === 'answered') return JSON.parse(state.answer) as Answer;
  if (state.kind === 'reused')
    throw new AppError('idempotency_key_reused', 'this Idempotency-Key was sent with another body before');
  if (state.kind === 'busy')
    throw new AppError('idempotency_key_busy', 'the first request with this Idempotency-Key is under way');
  try {
    return await make((tx, answer) => orders.answerKey(tx, keyed, state.claim, answer));
  } catch (error) {
    // if that fails too, the claim ends by itself
    await orders.giveUpKey(keyed, state.claim).catch(() => undefined);
    throw error;
  }
}

/** Hashed at once: some milliseconds. */
const turnBytes = 4_194_304;

/** Of what a body says: spaces and the order of fields make no other one. */
async function hashOf(body: unknown): Promise<Buffer> {
  const hash = createHash('sha256');
  let bytes = 0;
  for (const piece of piecesOf(body)) {
    hash.update(piece);
    bytes += piece.length;
    if (bytes < turnBytes) continue;
    bytes = 0;
    await nextTurn();
  }
  return hash.digest();
}

/** No two values have the same pieces: each begins with its kind and length. */
function* piecesOf(value: unknown): Generator<string | Uint8Array> {
  if (value instanceof Uint8Array) {
    yield `bytes ${value.length} `;
    for (let at = 0; at < value.length; at += turnBytes) yield value.subarray(at, at + turnBytes);
  } else if (Array.isArray(value)) {
    yield `list ${value.length} `;
    for (const item of value as readonly unknown[]) yield* piecesOf(item);
  } else if (typeof value === 'object' && value !== null) {
    const fields = Object.entries(value).toSorted(([a], [b]) => (a < b ? -1 : 1));
    yield `object ${fields.length} `;
    for (const [name, field] of fields) {
      yield* piecesOf(name);
      yield* piecesOf(field);
    }
  } else {
    const text = JSON.stringify(value) ?? '';
    yield `value ${text.length} ${text}`;
  }
}
