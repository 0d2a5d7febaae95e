import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  type InscriptionDetail,
  inscriptionDetail,
  inscriptionDetails,
  inscriptionKeys,
} from '#chain/inscriptions/inscription.queries.ts';
import { pageSize } from '#chain/inscriptions/relative.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { inscriptionJson } from '#http/lists/inscription-views.ts';
import { acceptedForms } from '#http/server/accepted-form.ts';
import { apiRoute } from '#http/server/api-route.ts';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { clientGone } from '#http/server/client-gone.ts';
import { open } from '#http/server/guard.ts';
import { bodyLimits } from '#http/server/limits.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { SearchGate } from '#search/service/search-gate.ts';
import { type AnswerBody, answerFromIndex, idText, sendOrd } from './answers.ts';
import { batchBody, batchOf, batchParts } from './batch.ts';
import { ordAnswers, pathParts } from './ord.schemas.ts';
import { inscriptionIdOf, inscriptionQuestionOf, placeOf, quoted } from './parameters.ts';

const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open } as const;
/** Inscriptions in one request: 12 MB of answers without galleries. */
const inscriptionsMax = 10_000;
/** Inscriptions read by one set of statements. */
const inscriptionsAtOnce = 250;
/** Galleries can make an answer of any size, and this one is held in memory. */
const answerCharsMax = 64 * 1024 * 1024;
/** The most ids that fit into a body. */
const idsMax = 500_000;

/**
 * Requests with this many ids hold a connection for a second or more each; most of the pool stays free for the
 * others.
 */
const batchesAtOnce = 2;
const batchesWaiting = 20;

/** `POST /inscriptions`, `POST /missing`, and galleries. */
export function inscriptionsRoutes(app: App, deps: AppDependencies): void {
  const gate = new SearchGate({ running: batchesAtOnce, waiting: batchesWaiting });
  apiRoute(app, {
    method: 'POST',
    url: '/inscriptions',
    schema: {
      operationId: 'inscriptionsBatch',
      summary: 'Several inscriptions',
      tags,
      body: batchBody(acceptedForms.inscriptionId, inscriptionsMax),
      response: ordAnswers.inscriptions,
    },
    config: { ...config, body: 'texts' },
    bodyLimit: bodyLimits.batch,
    handler: async (request, reply) => {
      const ids = await batchOf(request.body, inscriptionsMax, inscriptionIdOf);
      const { tip, body } = await gate.run(clientGone(reply), () =>
        withSnapshot(deps.pool, async (snapshot) => ({
          tip: snapshot.tip,
          body: await detailsJson(snapshot, ids, deps),
        })),
      );
      return sendOrd(request, reply, tip, body, { live: true });
    },
  });

  apiRoute(app, {
    method: 'POST',
    url: '/missing',
    schema: {
      operationId: 'missing',
      summary: 'Which of these inscriptions are not indexed',
      tags,
      body: batchBody(acceptedForms.inscriptionId, idsMax),
      response: ordAnswers.missing,
    },
    config: { ...config, body: 'texts' },
    bodyLimit: bodyLimits.batch,
    handler: async (request, reply) => {
      const { tip, parts } = await gate.run(clientGone(reply), () =>
        withSnapshot(deps.pool, async ({ client, tip: now }) => {
          const missing: string[] = [];
          for await (const ids of batchParts(request.body, idsMax, claimedId)) {
            const part = await missingOf(client, ids);
            if (part.length > 0) missing.push(JSON.stringify(part).slice(1, -1));
          }
          return { tip: now, parts: missing };
        }),
      );
      const body = parts.length <= 1 ? `[${parts.join('')}]` : listPieces(parts);
      return sendOrd(request, reply, tip, body, { live: true });
    },
  });

  galleryRoutes(app, deps);
}

/** The texts of ids that are not indexed, in the order given. */
async function missingOf(client: Snapshot['client'], ids: readonly ClaimedId[]): Promise<string[]> {
  const keys = await inscriptionKeys(
    client,
    ids.flatMap(({ id }) => id ?? []),
  );
  const found = keys.values();
  return ids.flatMap(({ text, id }) => (id === null || found.next().value === null ? [text] : []));
}

/** A JSON list in pieces, one for each part of it. */
function* listPieces(parts: readonly string[]): Generator<string> {
  for (const [place, part] of parts.entries()) yield `${place === 0 ? '[' : ','}${part}`;
  yield ']';
}

interface ClaimedId {
  readonly text: string;
  readonly id: InscriptionId | null;
}

/** An id as it is written in the answer; null where its index is too large to be indexed. */
function claimedId(given: string): ClaimedId {
  const text = given.toLowerCase();
  const id = parseInscriptionId(text);
  if (id !== null) return { text: idText(id), id };
  const [, index] = /^[0-9a-f]{64}i(\d{1,10})$/u.exec(text) ?? [];
  if (index === undefined || Number(index) >= 2 ** 32) inscriptionIdOf(text);
  return { text, id: null };
}

async function detailsJson(
  { client }: Snapshot,
  ids: readonly InscriptionId[],
  { network }: AppDependencies,
): Promise<string> {
  const found = await inscriptionKeys(client, ids);
  const keys = ids.map((id, place) => {
    const key = found[place] ?? null;
    if (key === null) throw new AppError('not_found', `inscription ${idText(id)} not found`);
    return key;
  });
  // a request for many children of one inscription reads it once
  const distinct = [...new Set(keys)];
  const answers = new Map<InscriptionKey, string>();
  let chars = 0;
  for (let from = 0; from < distinct.length; from += inscriptionsAtOnce) {
    const part = distinct.slice(from, from + inscriptionsAtOnce);
    for (const [key, detail] of await inscriptionDetails(client, part)) {
      const json = inscriptionJson(detail, network);
      chars += json.length;
      if (chars > answerCharsMax) throw tooLarge();
      answers.set(key, json);
    }
  }
  const asked = keys.map((key) => answers.get(key) ?? '');
  if (asked.reduce((sum, json) => sum + json.length, 0) > answerCharsMax) throw tooLarge();
  return `[${asked.join(',')}]`;
}

function tooLarge(): AppError {
  return new AppError('request_invalid', 'the answer would be too large: ask for fewer inscriptions');
}

interface GalleryItem {
  readonly id: string;
  readonly attributes: unknown;
}

/** An answer about an inscription's gallery. */
async function answerOf(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
  show: (detail: InscriptionDetail) => AnswerBody,
): Promise<FastifyReply> {
  const question = inscriptionQuestionOf(id);
  return answerFromIndex(deps, request, reply, {}, async ({ client }) => {
    const detail = await inscriptionDetail(client, question);
    if (detail === null) throw new AppError('not_found', `inscription ${quoted(id)} not found`);
    return show(detail);
  });
}

function galleryRoutes(app: App, deps: AppDependencies): void {
  const page = async (
    request: FastifyRequest,
    reply: FastifyReply,
    asked: { readonly id: string; readonly page?: string },
  ): Promise<FastifyReply> => {
    const place = placeOf(asked.page, 'page');
    inscriptionIdOf(asked.id);
    return answerOf(deps, request, reply, asked.id, (detail) => {
      const from = place * pageSize;
      const items = galleryOf(detail);
      const ids = items.slice(from, from + pageSize).map(({ id }) => id);
      return JSON.stringify({ ids, more: items.length > from + pageSize, page: place });
    });
  };
  const schema = {
    summary: 'The gallery of an inscription, 100 items per page',
    tags,
    response: ordAnswers.pageOfIds,
  };
  apiRoute(app, {
    method: 'GET',
    url: '/gallery/:id',
    schema: { ...schema, operationId: 'gallery', params: Type.Object({ id: pathParts.id }) },
    config,
    handler: async (request, reply) => page(request, reply, request.params),
  });
  apiRoute(app, {
    method: 'GET',
    url: '/gallery/:id/page/:page',
    schema: {
      ...schema,
      operationId: 'galleryPage',
      params: Type.Object({ id: pathParts.id, page: pathParts.page }),
    },
    config,
    handler: async (request, reply) => page(request, reply, request.params),
  });
  apiRoute(app, {
    method: 'GET',
    url: '/gallery/:id/:item',
    schema: {
      operationId: 'galleryItem',
      summary: 'An item of a gallery',
      tags,
      params: Type.Object({ id: pathParts.inscription, item: pathParts.item }),
      response: ordAnswers.galleryItem,
    },
    config,
    handler: async (request, reply) => {
      const place = placeOf(request.params.item, 'item');
      return answerOf(deps, request, reply, request.params.id, (detail) => {
        const item = galleryOf(detail)[place];
        if (item === undefined)
          throw new AppError('not_found', `gallery ${idText(detail.id)} item ${place} not found`);
        const fields = { gallery_id: idText(detail.id), gallery_number: detail.number, i: place };
        return JSON.stringify({ ...fields, item });
      });
    },
  });
}

/** Integers are read as doubles: only `/inscription` shows traits beyond 2^53 exactly. */
function galleryOf({ propertiesJson }: InscriptionDetail): GalleryItem[] {
  if (propertiesJson === null) return [];
  return (JSON.parse(propertiesJson) as { readonly gallery: GalleryItem[] }).gallery;
}
