import type { FastifyReply, FastifyRequest } from 'fastify';
import { type MempoolState, mempoolState } from '#chain/pending/pending.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { answeredUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { whyNotFollowed } from '#http/server/errors/why-not-followed.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { parseAddress } from '#kernel/bitcoin/parse-address.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/**
 * Makes a page of rows, with the cursor of the next page. The cursor is null on the last page. `rows` has one row more
 * than `limit` if there is a next page.
 */
export function pageOf<Row>(
  rows: readonly Row[],
  limit: number,
  cursorAfter: (last: Row) => string,
): { readonly shown: readonly Row[]; readonly nextCursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1);
  return { shown, nextCursor: rows.length > limit && last !== undefined ? cursorAfter(last) : null };
}

interface Reading {
  readonly pool: AppDependencies['pool'];
  readonly node: AppDependencies['node'];
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

type AnswerOfList<Answer> = (snapshot: Snapshot, state: MempoolState) => Promise<Answer>;

/** Responds from one snapshot, or with 304 if nothing has changed. Throws `no_node` and `mempool_not_followed`. */
export async function readList<Answer>(
  reading: Reading,
  answer: AnswerOfList<Answer>,
): Promise<Answer | FastifyReply> {
  const { pool, request, reply } = reading;
  if (await answeredUnchanged(pool, request, reply, true)) return reply;
  return readFollowed(reading, (snapshot, state) => {
    setMoment(request, reply, snapshot.tip, state.revision);
    return answer(snapshot, state);
  });
}

/**
 * Responds like `readList`, but tells caches not to keep the response, because it does not depend only on the chain and
 * the mempool.
 */
export async function readUnkept<Answer>(reading: Reading, answer: AnswerOfList<Answer>): Promise<Answer> {
  const { reply } = reading;
  return readFollowed(reading, (snapshot, state) => {
    if (snapshot.tip !== null) reply.header('x-indexed-height', snapshot.tip.height);
    reply.header('x-mempool-revision', state.revision).header('cache-control', 'no-store');
    return answer(snapshot, state);
  });
}

async function readFollowed<Answer>(
  { pool, node, reply }: Reading,
  answer: AnswerOfList<Answer>,
): Promise<Answer> {
  return withSnapshot(
    pool,
    async (snapshot) => {
      const state = await mempoolState(snapshot.client);
      if (state === null || !state.isFollowed) throw whyNotFollowed(state, node);
      return answer(snapshot, state);
    },
    askerOf(reply).signal,
  );
}

export function scriptOfAddress(text: string, network: NetworkParameters): Uint8Array {
  const parsed = parseAddress(text, network);
  if (parsed.kind === 'refused')
    throw new AppError('request_invalid', `the address ${parsed.reason}`, { parameter: 'address' });
  return parsed.script;
}

export function inscriptionIn(text: string): InscriptionId {
  const id = parseInscriptionId(text);
  if (id === null)
    throw new AppError('request_invalid', 'inscription is not an inscription id', {
      parameter: 'inscription',
    });
  return id;
}

export function wholeNumber(text: string): number {
  const value = /^\d{1,16}$/u.test(text) ? Number(text) : Number.NaN;
  if (!Number.isSafeInteger(value)) throw notOurs();
  return value;
}

export const notOurs = (): AppError =>
  new AppError('request_invalid', 'the cursor does not belong to this list', {
    parameter: 'cursor',
  });
