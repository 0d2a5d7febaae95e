import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import {
  type InscriptionName,
  inscriptionDetails,
  inscriptionKeys,
  inscriptionName,
} from '#chain/inscriptions/inscription.queries.ts';
import {
  galleryItem,
  galleryPage,
  piecesHeldBytes,
  propertiesHeads,
  propertiesTexts,
} from '#chain/inscriptions/properties.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { TextList } from '#http/bodies/parsing/text-list.ts';
import { sendRelatives } from '#http/lists/relatives-page.ts';
import { type AnswerBody, answerFromIndex, idText, sendOrd } from '#http/ord/answers/answers.ts';
import {
  type BatchGate,
  batchBody,
  batchList,
  batchOf,
  batchParts,
  listAnswer,
} from '#http/ord/answers/batch.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import { requireSatIndex } from '#http/ord/sats/sat-answer.ts';
import { inscriptionIdOf, inscriptionQuestionOf, placeOf, quoted } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { prefersHtml } from '#http/server/headers/accept.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { acceptedForms } from '#http/server/routes/accepted-form.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies, PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Snapshot } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type InscriptionId, parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { inscriptionJson } from './inscription-views.ts';

const tags = ['ord'] as const;
const config = { errors: 'plain', guard: open } as const;
/** Maximum number of inscriptions in one request. Their responses need 12 MB without galleries. */
const inscriptionsMax = 10_000;
/** Maximum number of inscriptions that are read together by one set of statements. */
const inscriptionsAtOnce = 250;
/**
 * Maximum number of characters in a response, which is in memory until it is sent. Without this maximum, galleries
 * could make a response of any size. The largest galleries (14 MB) fit. The maximum is half of the data that a client
 * may leave unread.
 */
const answerCharsMax = 16 * 1024 * 1024;
/** Maximum number of ids in a body. No body can contain more. */
const idsMax = 500_000;

/** Routes of `POST /inscriptions`, `POST /missing`, and galleries. */
export function inscriptionsRoutes(app: App, deps: PieceDependencies, gate: BatchGate): void {
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
    config: { ...config, body: 'texts', textsMax: inscriptionsMax, answersLarge: true },
    bodyLimit: bodyLimits.batch,
    handler: async (request, reply) => {
      const asker = askerOf(reply);
      const { tip, body } = await gate.run(asker, batchList(request.body).count, async () => {
        const ids = await batchOf(request.body, inscriptionIdOf);
        return withSnapshot(
          deps.pool,
          async (snapshot) => ({ tip: snapshot.tip, body: await details(snapshot, ids, deps) }),
          asker.signal,
        );
      });
      return sendOrd(request, reply, tip, body, { live: true });
    },
  });

  apiRoute(app, {
    method: 'POST',
    url: '/missing',
    schema: {
      operationId: 'missing',
      summary: 'Those of many inscription ids that are not indexed',
      tags,
      body: batchBody(acceptedForms.inscriptionId, idsMax),
      response: ordAnswers.missing,
    },
    config: { ...config, body: 'texts', textsMax: idsMax, answersLarge: true },
    bodyLimit: bodyLimits.batch,
    handler: async (request, reply) => {
      const list = batchList(request.body);
      const asker = askerOf(reply);
      const { tip, isMissing } = await gate.run(asker, list.count, () =>
        withSnapshot(
          deps.pool,
          async ({ client, tip: now }) => ({ tip: now, isMissing: await missingOf(client, list) }),
          asker.signal,
        ),
      );
      const body = listAnswer(list.count, missingParts(list, isMissing), list.bytes);
      return sendOrd(request, reply, tip, body, { live: true });
    },
  });

  galleryRoutes(app, deps);
}

/** Returns 1 for each id that is not indexed, and 0 for each other id. Throws `request_invalid`. */
async function missingOf(client: Snapshot['client'], list: TextList): Promise<Uint8Array> {
  const isMissing = new Uint8Array(list.count).fill(1);
  let first = 0;
  for await (const part of batchParts(list, claimedId)) {
    const places = part.flatMap(({ id }, place) => (id === null ? [] : [first + place]));
    const keys = await inscriptionKeys(
      client,
      part.flatMap(({ id }) => id ?? []),
    );
    for (const [place, key] of keys.entries()) if (key !== null) isMissing[places[place] ?? 0] = 0;
    first += part.length;
  }
  return isMissing;
}

/**
 * The missing ids as JSON. They are read from the list a second time, because half a million ids kept as strings would
 * need 60 MB.
 */
function* missingParts(list: TextList, isMissing: Uint8Array): Generator<string[]> {
  let first = 0;
  for (const part of list.parts(missingAtOnce)) {
    yield part
      .filter((_, place) => isMissing[first + place] === 1)
      .map((text) => `"${claimedId(text).text}"`);
    first += part.length;
  }
}
/** Maximum number of ids in a piece of a response. They are 70 kB of text. */
const missingAtOnce = 1_000;

interface ClaimedId {
  readonly text: string;
  readonly id: InscriptionId | null;
}

/** An id in the spelling of the response. `null` if its index is so large that it cannot be indexed. */
function claimedId(given: string): ClaimedId {
  const text = given.toLowerCase();
  const id = parseInscriptionId(text);
  if (id !== null) return { text: idText(id), id };
  const [, index] = /^[0-9a-f]{64}i(\d{1,10})$/u.exec(text) ?? [];
  if (index === undefined || Number(index) >= 2 ** 32) inscriptionIdOf(text);
  return { text, id: null };
}

/** Makes a JSON list of the inscriptions. */
async function details(
  { client }: Snapshot,
  ids: readonly InscriptionId[],
  { network }: AppDependencies,
): Promise<AnswerBody> {
  const found = await inscriptionKeys(client, ids);
  const keys = ids.map((id, place) => {
    const key = found[place] ?? null;
    if (key === null) throw new AppError('not_found', `inscription ${idText(id)} not found`);
    return key;
  });
  // a request for the children of one inscription may name it many times, so each inscription is read only once
  const distinct = [...new Set(keys)];
  const answers = new Map<InscriptionKey, string>();
  let chars = 0;
  for (let from = 0; from < distinct.length; from += inscriptionsAtOnce) {
    const part = distinct.slice(from, from + inscriptionsAtOnce);
    const heads = await propertiesHeads(client, part);
    // check the size before the properties are read
    const propertyBytes = [...heads.values()].reduce((sum, { jsonBytes }) => sum + jsonBytes, 0);
    if (propertyBytes > answerCharsMax - chars) throw tooLarge();
    const texts = await propertiesTexts(client, [...heads.values()]);
    for (const [key, detail] of await inscriptionDetails(client, part)) {
      const json = inscriptionJson(detail, texts.get(key) ?? null, network);
      chars += json.length;
      if (chars > answerCharsMax) throw tooLarge();
      answers.set(key, json);
    }
  }
  const asked = keys.reduce((sum, key) => sum + (answers.get(key) ?? '').length, 0);
  if (asked > answerCharsMax) throw tooLarge();
  return listAnswer(keys.length, answerParts(keys, answers), asked);
}

function* answerParts(
  keys: readonly InscriptionKey[],
  answers: ReadonlyMap<InscriptionKey, string>,
): Generator<string[]> {
  for (let from = 0; from < keys.length; from += inscriptionsAtOnce) {
    yield keys.slice(from, from + inscriptionsAtOnce).map((key) => answers.get(key) ?? '');
  }
}

function tooLarge(): AppError {
  return new AppError('request_invalid', 'the answer would be too large; request fewer inscriptions');
}

/** Responds with data about an inscription's gallery. */
async function answerOf(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  id: string,
  show: (client: Snapshot['client'], gallery: InscriptionName) => Promise<AnswerBody>,
): Promise<FastifyReply> {
  const question = inscriptionQuestionOf(id);
  return answerFromIndex(deps, request, reply, {}, async ({ client }) => {
    if (question.kind === 'sat') await requireSatIndex(client);
    const gallery = await inscriptionName(client, question);
    if (gallery === null) throw new AppError('not_found', `inscription ${quoted(id)} not found`);
    return show(client, gallery);
  });
}

function galleryRoutes(app: App, deps: PieceDependencies): void {
  const page = (request: FastifyRequest, reply: FastifyReply, asked: GalleryPlace): Promise<FastifyReply> =>
    sendGallery(deps, request, reply, asked);
  const schema = {
    summary: 'The gallery of an inscription, 100 items per page',
    tags,
    response: ordAnswers.pageOfRelatives,
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
  galleryItemRoute(app, deps);
}

function galleryItemRoute(app: App, deps: PieceDependencies): void {
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
      return answerOf(deps, request, reply, request.params.id, async (client, gallery) => {
        const id = idText(gallery);
        const asker = askerOf(reply);
        const item = await galleryItem(client, gallery, place, (work) =>
          deps.contents.readPiece(asker, work),
        );
        if (item === null) throw new AppError('not_found', `gallery ${id} item ${place} not found`);
        const fields = JSON.stringify({ gallery_id: id, gallery_number: gallery.number, i: place });
        const before = `${fields.slice(0, -1)},"item":`;
        return typeof item === 'string'
          ? `${before}${item}}`
          : { pieces: within(before, item, '}'), bytes: piecesHeldBytes };
      });
    },
  });
}

interface GalleryPlace {
  readonly id: string;
  readonly page?: string;
}

/** Sends a page of a gallery. It is ord's JSON, or an HTML page for people. */
async function sendGallery(
  deps: PieceDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
  asked: GalleryPlace,
): Promise<FastifyReply> {
  const place = placeOf(asked.page, 'page');
  const id = inscriptionIdOf(asked.id);
  varyBy(reply, 'Accept');
  if (prefersHtml(request.headers.accept)) {
    return withSnapshot(
      deps.pool,
      async (snapshot) => {
        const of = await inscriptionName(snapshot.client, { kind: 'id', id });
        if (of === null) throw new AppError('not_found', `inscription ${quoted(asked.id)} not found`);
        const { ids, more } = await galleryPage(snapshot.client, of.key, place);
        const items = ids.flatMap((item) => parseInscriptionId(item) ?? []);
        const keys = (await inscriptionKeys(snapshot.client, items)).filter((key) => key !== null);
        const path = (to: number): string => `/gallery/${idText(id)}/page/${to}`;
        return sendRelatives(deps, reply, snapshot, { name: 'Gallery', of, keys, more, page: place, path });
      },
      askerOf(reply).signal,
    );
  }
  return answerOf(deps, request, reply, asked.id, async (client, { key }) =>
    JSON.stringify({ ...(await galleryPage(client, key, place)), page: place }),
  );
}

async function* within(
  before: string,
  pieces: AsyncIterable<string | Buffer>,
  after: string,
): AsyncGenerator<string | Buffer> {
  yield before;
  yield* pieces;
  yield after;
}
