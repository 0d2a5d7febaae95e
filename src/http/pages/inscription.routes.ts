import type { FastifyReply, FastifyRequest } from 'fastify';
import type { ClientBase } from 'pg';
import { Type } from 'typebox';
import { isComplete, whyBehind } from '#chain/derived/derived-tables.queries.ts';
import {
  type InscriptionDetail,
  type InscriptionQuestion,
  inscriptionDetail,
  inscriptionDetails,
  inscriptionKey,
} from '#chain/inscriptions/inscription.queries.ts';
import { galleryIndex } from '#chain/inscriptions/parents-and-galleries.queries.ts';
import {
  piecesHeldBytes,
  propertiesHeads,
  propertiesJson,
  startOfJson,
} from '#chain/inscriptions/properties.queries.ts';
import { type Reference, referencesOf } from '#chain/inscriptions/recursion.queries.ts';
import { childrenFrom } from '#chain/inscriptions/relative.queries.ts';
import { type StoredSale, salesOfInscription, salesOfItemIndex } from '#chain/sales/sale.queries.ts';
import { builtIndexes } from '#chain/snapshot/built-indexes.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { type AnswerBody, answerFromIndex } from '#http/ord/answers/answers.ts';
import { ordAnswers } from '#http/ord/answers/ord.schemas.ts';
import {
  inscriptionJson,
  inscriptionPieces,
  inscriptionView,
} from '#http/ord/inscriptions/inscription-views.ts';
import { requireSatIndex } from '#http/ord/sats/sat-answer.ts';
import { inscriptionQuestionOf, placeOf, quoted } from '#http/parameters/path-parameters.ts';
import { pathParts } from '#http/parameters/path-parts.ts';
import { satributesInForce } from '#http/sats/satributes-in-force.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { open } from '#http/server/access/guard.ts';
import { sendPage } from '#http/server/answers/send-page.ts';
import { siteOf } from '#http/server/answers/site.ts';
import { prefersJson } from '#http/server/headers/accept.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type CollectionOfItem, collectionsOf } from '#market/lists/collections-of.store.ts';
import { pendingSales } from '#market/sales/pending-sales.store.ts';
import { ownTransactions } from '#purse/transactions/own-transactions.queries.ts';
import { mediaOf } from '#web/media.ts';
import { inscriptionPage, jsonShownChars } from '#web/pages/inscription.page.ts';

/** The bytes of a content that are searched for references, for the inscription's page. */
const referenceBytes = 256 * 1024;
/** Sales of an inscription that wait for a block, on its page: each one more is a purchase of what nobody has yet. */
const pendingSalesShown = 5;
/** Of those in blocks, the newest. */
const salesShown = 20;
const config = { errors: 'plain', guard: open } as const;

/** Whether a request has the headers of ord's client, which accepts JSON alone and does not name itself. */
function isOrdClient({ headers }: FastifyRequest): boolean {
  return headers.accept === 'application/json' && headers['user-agent'] === undefined;
}

/** An unknown inscription. ord's client reads null as that, and any other body as a broken answer. */
function sendOrdNull(reply: FastifyReply): FastifyReply {
  return reply
    .code(404)
    .header('cache-control', 'no-store')
    .type('application/json; charset=utf-8')
    .send('null');
}

/** An inscription, or a child of one: a page, or ord's JSON. */
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
    const missing = new AppError('not_found', `inscription ${quoted(query)}${words} not found`);
    const find = async (client: ClientBase): Promise<InscriptionDetail> => {
      if (question.kind === 'sat') await requireSatIndex(client);
      const detail = await asked(client, question, place);
      if (detail === null) throw missing;
      return detail;
    };
    const { accept } = request.headers;
    if (prefersJson(accept)) {
      return answerFromIndex(deps, request, reply, { page: true }, async ({ client }) =>
        inscriptionBody(client, await find(client), deps, askerOf(reply)),
      ).catch((error: unknown) => {
        if (error === missing && isOrdClient(request)) return sendOrdNull(reply);
        throw error;
      });
    }
    return withSnapshot(
      pool,
      async ({ client, tip }) => {
        const detail = await find(client);
        const ofItem = { script: null, inscription: detail.id, collection: null };
        const parts = {
          propertiesJson: await shownProperties(client, detail),
          references: await shownReferences(client, detail),
          pendingSales: await pendingSales(client, ofItem, null, pendingSalesShown),
          sales: await shownSales(client, detail),
          collections: await shownCollections(client, detail),
          satributes: satributesInForce(deps),
        };
        const view = inscriptionView(detail, parts, network, siteOf(deps, tip));
        return sendPage(reply, inscriptionPage(view));
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
    config,
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

/** The inscription, or its child at a position that counts from 0. */
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

async function inscriptionBody(
  client: ClientBase,
  detail: InscriptionDetail,
  { contents, network }: PieceDependencies,
  asker: Asker,
): Promise<AnswerBody> {
  const head = (await propertiesHeads(client, [detail.key])).get(detail.key);
  if (head === undefined) return inscriptionJson(detail, null, network);
  const properties = await propertiesJson(client, head, (work) => contents.readPiece(asker, work));
  return typeof properties === 'string'
    ? inscriptionJson(detail, properties, network)
    : { pieces: inscriptionPieces(detail, properties, network), bytes: piecesHeldBytes };
}

/** The JSON of the properties as far as the page shows it. */
async function shownProperties(client: ClientBase, { key }: InscriptionDetail): Promise<string | null> {
  const head = (await propertiesHeads(client, [key])).get(key);
  return head === undefined ? null : startOfJson(client, head, jsonShownChars + 1);
}

/**
 * None while sales are being filled in, or the index that finds them is being built; moves of our own orders are none.
 */
async function shownSales(client: ClientBase, { key }: InscriptionDetail): Promise<StoredSale[]> {
  const built = await builtIndexes(client, [salesOfItemIndex]);
  if (!built.has(salesOfItemIndex) || !(await isComplete(client, 'sales'))) return [];
  const sales = await salesOfInscription(client, key, salesShown);
  const own = await ownTransactions(
    client,
    sales.map(({ txid }) => txid),
  );
  return sales.filter(({ txid }) => !own.some((of) => Buffer.compare(of, txid) === 0));
}

/** Null while galleries are being indexed. The last read of its transaction: it changes how statements are planned. */
async function shownCollections(
  client: ClientBase,
  { id }: InscriptionDetail,
): Promise<readonly CollectionOfItem[] | null> {
  const built = await builtIndexes(client, [galleryIndex]);
  if (!built.has(galleryIndex) || (await whyBehind(client, 'properties')) !== null) return null;
  return collectionsOf(client, id);
}

/** The inscriptions that the content refers to, if browsers run its type. */
async function shownReferences(
  client: ClientBase,
  { contentId, contentType }: InscriptionDetail,
): Promise<readonly Reference[]> {
  if (contentId === null || mediaOf(contentType) !== 'frame') return [];
  return (await referencesOf(client, [contentId], referenceBytes)).get(contentId) ?? [];
}
