import type { FastifyReply, FastifyRequest } from 'fastify';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { inscribedHeaders } from '#http/content/content-headers.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { answeredUnchanged, namesTag, sendUnchanged, setMoment } from '#http/server/answers/conditional.ts';
import { answerOfPieces, type PiecesOfAnswer } from '#http/server/budgets/answer-pieces.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot, Tip } from '#kernel/contracts/search-engine.ts';
import { formatInscriptionId, type InscriptionId } from '#kernel/primitives/inscription-id.ts';

export const idText = ({ txid, index }: InscriptionId): string => formatInscriptionId(txid, index);

/**
 * Properties of a response:
 * - `recursive`: inscriptions may request it, with the policies for their requests.
 * - `page`: the path also has an HTML page.
 * - `live`: it contains data of the node, so the entity tag of the index's tip is not used.
 * - `unkept`: caches must not keep it. ord does the same for entries that are counted from the end of a growing list.
 */
export interface AnswerForm {
  readonly type?: 'json' | 'text';
  readonly recursive?: boolean;
  readonly page?: boolean;
  readonly live?: boolean;
  readonly unkept?: boolean;
}

const contentTypes = { json: 'application/json; charset=utf-8', text: 'text/plain; charset=utf-8' };

/**
 * A response body. It is one text, or pieces if it can be large. Each piece is made after the previous piece was sent.
 */
export type AnswerBody = string | PiecesOfAnswer;

/** Sends a response of ord's API, made at `tip`. */
export function sendOrd(
  request: FastifyRequest,
  reply: FastifyReply,
  tip: Tip | null,
  body: AnswerBody,
  form: AnswerForm = {},
): FastifyReply {
  if (form.live === true || form.unkept === true) {
    if (tip !== null) reply.header('x-indexed-height', tip.height);
    reply.header('cache-control', form.unkept === true ? 'no-store' : 'no-cache');
  } else {
    setMoment(request, reply, tip);
  }
  if (form.recursive === true) reply.headers(inscribedHeaders);
  reply.header('content-type', contentTypes[form.type ?? 'json']);
  return reply.send(typeof body === 'string' ? body : answerOfPieces(body, askerOf(reply).client));
}

/** A response, and the tip at which it was made. */
interface MadeAnswer {
  readonly tip: Tip | null;
  readonly body: AnswerBody;
}

/** Like `answerOfTip`, for responses that need only the index. Everything is read in one snapshot. */
export function answerFromIndex(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  form: AnswerForm,
  read: (snapshot: Snapshot) => Promise<AnswerBody>,
): Promise<FastifyReply> {
  return answerOfTip(deps, request, reply, form, () =>
    withSnapshot(
      deps.pool,
      async (snapshot) => ({ tip: snapshot.tip, body: await read(snapshot) }),
      askerOf(reply).signal,
    ),
  );
}

/**
 * Responds at a tip. Sends 304 if the client has the response of this tip. Otherwise sends the cached response of this
 * tip, or makes a new one.
 */
export async function answerOfTip(
  { pool, tipAnswers }: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  form: AnswerForm,
  make: () => Promise<MadeAnswer>,
): Promise<FastifyReply> {
  if (form.page === true) varyBy(reply, 'Accept');
  if (tipAnswers == null || !mayBeKept(request, form)) {
    if (form.unkept !== true && (await answeredUnchanged(pool, request, reply))) return reply;
    const { tip, body } = await make();
    return sendOrd(request, reply, tip, body, form);
  }
  const found = await tipAnswers.find(request.url, askerOf(reply).signal);
  if (namesTag(request, found.tag)) return sendUnchanged(request, reply, found);
  if (found.body !== null) return sendOrd(request, reply, found.tip, found.body, form);
  const { tip, body } = await make();
  if (found.mayBeKept && typeof body === 'string') tipAnswers.keep(request.url, tip, body);
  return sendOrd(request, reply, tip, body, form);
}

/** Whether a response may be cached. It must depend only on its URL and the tip. */
const mayBeKept = ({ method }: FastifyRequest, { unkept, live }: AnswerForm): boolean =>
  unkept !== true && live !== true && method === 'GET';
