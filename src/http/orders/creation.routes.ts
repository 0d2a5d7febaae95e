import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { creationPaths } from './creation-paths.ts';
import { holdCollectionItems } from './hold-collection-items.ts';
import {
  createdCollectionOrder,
  createdDirect,
  createdEtching,
  createdManaged,
  createdMint,
} from './order.schemas.ts';
import { creationBodies, creationBody } from './order-body.schemas.ts';
import { creationExamples } from './order-examples.ts';

/** Routes that create orders (docs/orders-api.md). */
export function creationRoutes(app: App, deps: AppDependencies): void {
  const addPath = creationPaths(deps);
  addPath(app, {
    url: '/inscribe',
    type: 'direct',
    contents: 'files',
    operationId: 'inscribe',
    summary: 'Orders inscriptions; GET /order then has the address to pay',
    body: creationBody(
      creationBodies.direct,
      'files or delegates, and their receivers (docs/orders-api.md, "Direct orders"); other fields are ignored',
      creationExamples.direct,
    ),
    errors: 'orderWrite',
    answer: createdDirect,
  });
  addPath(app, {
    url: '/order',
    type: 'bulk',
    contents: 'files',
    operationId: 'createOrder',
    summary: 'Orders inscriptions; the answer has the address to pay',
    body: creationBody(
      creationBodies.managed,
      'files or delegates, and their receivers (docs/orders-api.md, "Managed orders"); other fields are ignored',
      creationExamples.managed,
    ),
    errors: 'orderWrite',
    answer: createdManaged,
  });
  addPath(app, {
    url: '/collectionorder',
    type: 'bulk',
    contents: 'files',
    operationId: 'createCollectionOrder',
    summary: 'Orders items of a collection; the answer has the address to pay',
    body: creationBody(
      creationBodies.collection,
      'a collection, its items by count or by number, and their receiver (docs/collections.md); other fields are ignored',
      {},
    ),
    errors: 'orderWrite',
    failures: [401, 404, 501],
    answer: createdCollectionOrder,
    hold: (orders, request, asker) => holdCollectionItems(deps.network, orders, request, asker),
  });
  addPath(app, {
    url: '/textorder',
    type: 'bulk',
    contents: 'texts',
    operationId: 'createTextOrder',
    summary: 'Orders inscriptions of texts; the answer has the address to pay',
    body: creationBody(
      creationBodies.texts,
      'texts, and their receivers (docs/orders-api.md, "Managed orders"); other fields are ignored',
      creationExamples.texts,
    ),
    errors: 'textOrder',
    answer: createdManaged,
  });
  addRunes(app, addPath);
}

/** Routes that order etchings and mints of runes. */
function addRunes(app: App, addPath: ReturnType<typeof creationPaths>): void {
  addPath(app, {
    url: '/runes/etch',
    type: 'bulk',
    contents: 'etching',
    operationId: 'createRunesEtchOrder',
    summary: 'Orders the etching of a rune; the answer has the address to pay',
    body: creationBody(
      creationBodies.etching,
      'the rune, and the receiver of its premine (docs/orders-api.md, "Etchings"); other fields are ignored',
      creationExamples.etching,
    ),
    errors: 'orderWrite',
    failures: [404],
    answer: createdEtching,
  });
  addPath(app, {
    url: '/runes/mint',
    type: 'bulk',
    contents: 'mint',
    operationId: 'createRunesMintOrder',
    summary: 'Orders mints of a rune; the answer has the address to pay',
    body: creationBody(
      creationBodies.mint,
      'the rune, the number of mints, and their receiver (docs/orders-api.md, "Mints"); other fields are ignored',
      creationExamples.mint,
      ['rune', 'numberOfMints', 'receiveAddress'],
    ),
    errors: 'orderWrite',
    failures: [404],
    answer: createdMint,
  });
}
