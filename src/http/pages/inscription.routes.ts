import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import {
  type InscriptionDetail,
  type InscriptionQuestion,
  inscriptionDetail,
  inscriptionDetails,
  inscriptionKey,
} from '#chain/inscriptions/inscription.queries.ts';
import {
  type PropertiesHead,
  piecesHeldBytes,
  propertiesHeads,
  propertiesJson,
} from '#chain/inscriptions/properties.queries.ts';
import { childrenFrom } from '#chain/inscriptions/relative.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type AnswerBody, answerFromIndex, answerOfTip } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import {
  inscriptionJson,
  inscriptionPieces,
  inscriptionView,
} from '#http/ord/inscriptions/inscription-views.ts';
import { requireSatIndex } from '#http/ord/sats/sat-answer.ts';
import { inscriptionQuestionOf, isSatName, placeOf, quoted } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { inscriptionPage } from '#web/pages/inscription.page.ts';
import { inscriptionParts } from './inscription-parts.ts';
import { pendingInscriptionPage } from './pending-inscription.ts';

const config = { errors: 'plain', guard: open } as const;

/**
 * Whether `deps.inscriptions` reads the answer to a request. HTML pages and inscriptions by sat are read in their own
 * snapshots.
 */
function isReadTogether({ headers, params }: FastifyRequest): boolean {
  const { query } = params as { readonly query: string };
  return prefersJson(headers.accept) && !isSatName(query);
}

/** Whether a request has the headers of ord's client, which accepts only JSON and has no User-Agent. */
function isOrdClient({ headers }: FastifyRequest): boolean {
  return headers.accept === 'application/json' && headers['user-agent'] === undefined;
}

/**
 * Sends the answer for an unknown inscription to ord's client. The client reads null as "unknown", and any other body
 * as an invalid answer.
 */
function sendOrdNull(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send('null');
}

/** Sends the page of a pending inscription. Throws `missing` if the id is not pending. */
async function sendMissing(
  deps: PieceDependencies,
  snapshot: Parameters<typeof pendingInscriptionPage>[1],
  reply: FastifyReply,
  asked: {
    readonly question: InscriptionQuestion;
    /** The position of a child. `null` if the request is not about a child. */
    readonly place: number | null;
    readonly missing: () => AppError;
  },
): Promise<FastifyReply> {
  const { question, place, missing } = asked;
  const id = question.kind === 'id' && place === null ? question.id : null;
  const sent = id === null ? null : await pendingInscriptionPage(deps, snapshot, reply, id);
  if (sent === null) throw missing();
  return sent;
}

/** Routes of an inscription, or of a child of an inscription: an HTML page, or ord's JSON. */
export function inscriptionRoutes(app: App, deps: PieceDependencies): void {
  const { pool, network } = deps;
  const handler = async (
    request: FastifyRequest,
    reply: FastifyReply,
    { query, child }: { readonly query: string; readonly child?: string },
  ): Promise<FastifyReply> => {
    const question = inscriptionQuestionOf(query);
    const place = child === undefined ? null : placeOf(child, 'child');
    const words = place === null ? '' : ` child ${place}`;
    const missing = (): AppError =>
      new AppError('not_found', `inscription ${quoted(query)}${words} not found`);
    const { accept } = request.headers;
    if (prefersJson(accept)) {
      return answerJson(deps, request, reply, { question, place }).catch((error: unknown) => {
        if (error !== notIndexed) throw error;
        if (isOrdClient(request)) return sendOrdNull(reply);
        throw missing();
      });
    }
    return withSnapshot(
      pool,
      async ({ client, tip }) => {
        if (question.kind === 'sat') await requireSatIndex(client);
        const detail = await asked(client, question, place);
        if (detail === null) return sendMissing(deps, { client, tip }, reply, { question, place, missing });
        const parts = await inscriptionParts(client, detail, deps);
        const view = inscriptionView(detail, parts, network, siteOf(deps, tip));
        return sendPage(reply, inscriptionPage(view), { thumbnails: true });
      },
      askerOf(reply).signal,
    );
  };
  const schema = {
    summary: 'An inscription by id or number, or a child of one: a page, or ord’s JSON',
    tags: ['pages'],
    response: ordAnswers.inscription,
  } as const;
  const { inscription: query, child: place } = pathParts;
  apiRoute(app, {
    method: 'GET',
    url: '/inscription/:query',
    schema: { ...schema, operationId: 'inscription', params: Type.Object({ query }) },
    config: { ...config, isReadTogether },
    handler: async (request, reply) => handler(request, reply, request.params),
  });
  apiRoute(app, {
    method: 'GET',
    url: '/inscription/:query/:child',
    schema: { ...schema, operationId: 'child', params: Type.Object({ query, child: place }) },
    config,
    handler: async (request, reply) => handler(request, reply, request.params),
  });
}

/**
 * The error for an inscription that is not in the index. One error object is reused, because creating an error with its
 * stack trace takes 50 µs.
 */
const notIndexed = new RangeError('the inscription is not indexed');

interface AskedInscription {
  readonly question: InscriptionQuestion;
  /** The position of a child. `null` if the request is not about a child. */
  readonly place: number | null;
}

/** The answer with ord's JSON. Rejects with `notIndexed`. */
function answerJson(
  deps: PieceDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  { question, place }: AskedInscription,
): Promise<FastifyReply> {
  const form = { page: true };
  const asker = askerOf(reply);
  if (place === null && question.kind !== 'sat') {
    return answerOfTip(deps, request, reply, form, async () => {
      const { tip, detail, properties } = await deps.inscriptions.find(question, asker.signal);
      if (detail === null) throw notIndexed;
      if (typeof properties === 'string' || properties === null)
        return { tip, body: inscriptionJson(detail, properties, deps.network) };
      return {
        tip,
        body: await deps.contents.readPiece(asker, (client) =>
          bodyWith(client, detail, properties, deps, asker),
        ),
      };
    });
  }
  return answerFromIndex(deps, request, reply, form, async ({ client }) => {
    if (question.kind === 'sat') await requireSatIndex(client);
    const detail = await asked(client, question, place);
    if (detail === null) throw notIndexed;
    const head = (await propertiesHeads(client, [detail.key])).get(detail.key);
    if (head === undefined) return inscriptionJson(detail, null, deps.network);
    return bodyWith(client, detail, head, deps, asker);
  });
}

/** The inscription, or its child at a position from 0. */
async function asked(
  client: ClientBase,
  question: InscriptionQuestion,
  child: number | null,
): Promise<InscriptionDetail | null> {
  if (child === null) return inscriptionDetail(client, question);
  const parent = await inscriptionKey(client, question);
  if (parent === null) return null;
  const [key] = await childrenFrom(client, parent, child, 1);
  return key === undefined ? null : ((await inscriptionDetails(client, [key])).get(key) ?? null);
}

async function bodyWith(
  client: ClientBase,
  detail: InscriptionDetail,
  head: PropertiesHead,
  { contents, network }: PieceDependencies,
  asker: Asker,
): Promise<AnswerBody> {
  const properties = await propertiesJson(client, head, (work) => contents.readPiece(asker, work));
  return typeof properties === 'string'
    ? inscriptionJson(detail, properties, network)
    : { pieces: inscriptionPieces(detail, properties, network), bytes: piecesHeldBytes };
}
