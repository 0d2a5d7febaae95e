import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { isReveal } from '#chain/inscriptions/inscription.queries.ts';
import { type RuneDetail, type RuneQuestion, runeDetail, runesDownFrom } from '#chain/runes/rune.queries.ts';
import { RuneLists } from '#chain/runes/rune-orders.ts';
import { requireRunes } from '#chain/runes/rune-standing.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { answerFromIndex } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import { placeOf, runeQuestionOf } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { formatInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { runeLetters } from '#kernel/runes/rune.ts';
import { formatRuneId } from '#kernel/runes/rune-id.ts';
import { runeJson, runesPageJson } from './rune-json.ts';
import { sendRunePage } from './rune-pages.ts';
import { runesQuery, runesQuestionOf, sendRunesPage } from './runes-page.ts';

const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open } as const;
/** Maximum number of runes on a page, as in ord. */
const runesPerPage = 50;
const form = { page: true } as const;

/** Routes about runes (docs/ord-api.md, "Runes"). */
export function runesRoutes(app: App, deps: AppDependencies): void {
  apiRoute(app, {
    method: 'GET',
    url: '/rune/:rune',
    schema: {
      operationId: 'rune',
      summary: 'A rune by its name, id or number',
      tags,
      params: Type.Object({ rune: pathParts.rune }),
      response: ordAnswers.rune,
    },
    config,
    handler: async (request, reply) => {
      const question = runeQuestionOf(request.params.rune);
      if (!prefersHtml(request.headers.accept))
        return answerFromIndex(deps, request, reply, form, (snapshot) => runeAnswer(snapshot, question));
      return withSnapshot(
        deps.pool,
        async (snapshot) => {
          const rune = await foundBy(snapshot, question);
          return sendRunePage(snapshot, deps, reply, rune);
        },
        askerOf(reply).signal,
      );
    },
  });

  const lists = new RuneLists(deps.pool);
  const list = async (
    request: FastifyRequest,
    reply: FastifyReply,
    pageText?: string,
  ): Promise<FastifyReply> => {
    const page = placeOf(pageText, 'page');
    if (!prefersHtml(request.headers.accept))
      return answerFromIndex(deps, request, reply, form, (snapshot) => pageAnswer(snapshot, page));
    const question = runesQuestionOf(request.query, page);
    return sendRunesPage(deps, lists, reply, question, askerOf(reply).signal);
  };
  const schema = {
    summary: 'Runes, newest first: a page, or ord’s JSON',
    tags,
    querystring: runesQuery,
    response: ordAnswers.runes,
  };
  apiRoute(app, {
    method: 'GET',
    url: '/runes',
    schema: { ...schema, operationId: 'runes' },
    config,
    handler: async (request, reply) => list(request, reply),
  });
  apiRoute(app, {
    method: 'GET',
    url: '/runes/:page',
    schema: { ...schema, operationId: 'runesPage', params: Type.Object({ page: pathParts.page }) },
    config,
    handler: async (request, reply) => list(request, reply, request.params.page),
  });
}

async function foundBy({ client }: Snapshot, question: RuneQuestion): Promise<RuneDetail> {
  await requireRunes(client);
  const rune = await runeDetail(client, question);
  if (rune !== null) return rune;
  throw new AppError('not_found', `rune ${nameOf(question)} not found`);
}

async function runeAnswer(snapshot: Snapshot, question: RuneQuestion): Promise<string> {
  const { client, tip } = snapshot;
  const rune = await foundBy(snapshot, question);
  const parent = (await isReveal(client, rune.etching)) ? formatInscriptionId(rune.etching, 0) : null;
  return runeJson(rune, tip === null ? 0 : tip.height + 1, parent);
}

/** The rune's name in the form that ord's messages use. */
function nameOf(question: RuneQuestion): string {
  if (question.kind === 'id') return formatRuneId(question.id);
  return question.kind === 'number' ? `number ${question.number}` : runeLetters(question.rune);
}

/** A page of runes. If there are more, the page also contains the first rune of the next page, as in ord. */
async function pageAnswer({ client }: Snapshot, page: number): Promise<string> {
  const { count } = await requireRunes(client);
  const runes = await runesDownFrom(client, count - 1 - page * runesPerPage, runesPerPage + 1);
  return runesPageJson(runes, page, runes.length > runesPerPage);
}
