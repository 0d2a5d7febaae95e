import type { FastifyReply, FastifyRequest } from 'fastify';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { NewCollection } from '#collections/collection/insert-collection.store.ts';
import type { CreatorCollections } from '#collections/creator-collections.ts';
import { readCollection } from '#collections/reading/read-collection.ts';
import { answerOnce, onceHeaders } from '#http/orders/answer-once.ts';
import { refuseFaults, unlessFaulty } from '#http/orders/refuse-faults.ts';
import { askerOf } from '#http/server/access/asker.ts';
import { createsCollections } from '#http/server/access/guard.ts';
import { ownOriginsOf } from '#http/server/headers/request-origin.ts';
import { bodyLimits } from '#http/server/limits.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { Pauses } from '#kernel/concurrency/work-in-steps.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { findMarketCollection } from '#market/collections/market-slug.store.ts';
import { isImportSlug } from '#market/imports/import-slug.ts';
import { namedFaults } from '#orders/creating/destination-faults.ts';
import type { CustomerOrders } from '#orders/customers/customer-orders.ts';
import { collectionBody, createdCollection } from './collection.schemas.ts';
import { createdAnswer } from './collection-answers.ts';
import { runePriceOf } from './rune-price.ts';

type CreatedAnswer = ReturnType<typeof createdAnswer>;

/** Routes that create collections. The public client sends JSON or a form (docs/collections.md). */
export function collectionCreationRoutes(app: App, deps: AppDependencies): void {
  const shared = {
    summary: 'Creates a collection; it is for sale after an operator approves it',
    tags: ['collections'],
    headers: onceHeaders,
    body: collectionBody,
    response: { 200: createdCollection },
  } as const;
  const config = { errors: 'orderWrite', guard: createsCollections, failures: [409, 422, 503] } as const;
  const handler = (request: FastifyRequest, reply: FastifyReply): Promise<CreatedAnswer> =>
    answerCreation(deps, request, reply);
  apiRoute(app, {
    method: 'POST',
    url: '/collection-create',
    bodyLimit: bodyLimits.collection,
    schema: { ...shared, operationId: 'createCollection' },
    config,
    handler,
  });
  apiRoute(app, {
    method: 'POST',
    url: '/collectioncreate',
    bodyLimit: bodyLimits.collection,
    schema: { ...shared, operationId: 'createCollectionByForm' },
    config: { ...config, body: 'form' },
    handler,
  });
}

async function answerCreation(
  deps: AppDependencies,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<CreatedAnswer> {
  // a form without fields has a content type but no bytes
  if (Object.keys(request.body as object).length === 0)
    throw refuseFaults([
      { message: 'the body is empty; send the fields of a collection (docs/collections.md)' },
    ]);
  const { orders = null, collections = null } = deps;
  if (orders === null || collections === null)
    throw new AppError('orders_off', 'this service sells no collections');
  reply.header('cache-control', 'no-store');
  const asker = askerOf(reply);
  return answerOnce(orders, request, asker, async (store) => {
    const collection = await checkedCollection(deps, orders, request, asker);
    return create(collections, collection, asker, store);
  });
}

/** Checks a collection. Throws `request_invalid` with its faults. */
async function checkedCollection(
  deps: AppDependencies,
  orders: CustomerOrders,
  request: FastifyRequest,
  asker: Asker,
): Promise<NewCollection> {
  const { network, pool } = deps;
  // uploaded files are read from disk, whatever host is in their URL
  const own = orders.ownFiles(ownOriginsOf(request, orders.publicOrigin));
  const urlProblem = (url: string): string | null => (own.isOwn(url) ? null : orders.urlProblem(url));
  const reading = readCollection(request.body, { network, urlProblem });
  const { collection } = unlessFaulty(await new Pauses(asker).run(reading));
  const { id, creator, runePrice } = collection;
  const isTaken =
    !isImportSlug(id) ||
    (await withSnapshot(pool, ({ client }) => findMarketCollection(client, id), asker.signal)) !== null;
  if (isTaken) throw taken(id);
  if (creator !== null) {
    const named = [['creator-address', creator.script]] as const;
    const faults = await namedFaults(named, (scripts) => orders.ownScriptsAmong(scripts, asker.signal));
    if (faults.length > 0) throw refuseFaults(faults);
  }
  const keyHash = collection.keyHash ?? hashOf(asker.key);
  const inRunes = runePrice === null ? null : await runePriceOf(deps, runePrice, keyHash, asker);
  return { ...collection, keyHash, inRunes };
}

/** Returns the hash of the key that was sent in a header, so that a program need not also send the hash. */
const hashOf = (key: Asker['key']): Buffer | null =>
  key.kind === 'none' ? null : Buffer.from(key.hash, 'hex');

async function create(
  collections: CreatorCollections,
  collection: NewCollection,
  { client, key }: Asker,
  store: Parameters<Parameters<typeof answerOnce>[3]>[0],
): Promise<CreatedAnswer> {
  let answer: CreatedAnswer | null = null;
  await collections.create(collection, key.kind === 'none' ? client : null, async (tx, createdAt) => {
    answer = createdAnswer(collection, createdAt);
    await store(tx, answer);
  });
  if (answer === null) throw taken(collection.id);
  return answer;
}

const taken = (id: string) =>
  refuseFaults([{ message: `id ${id} is already used. Choose another id.`, parameter: 'id' }]);
