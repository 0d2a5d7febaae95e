import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import { networks } from '#kernel/primitives/network.ts';
import { replaceCollection } from '#market/collections/collection.store.ts';
import type { CollectionMeta } from '#market/imports/read-meta.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { buildCheckedApp } from '#test/support/checked-app.ts';
import type { TestDatabase } from '#test/support/database.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { testOperations } from '#test/support/operations.ts';

/** The app on the database of a node's index. */
export async function marketApp({ readers }: TestDatabase): Promise<ReturnType<typeof buildCheckedApp>> {
  const engine = createPostgresEngine();
  const app = buildCheckedApp({
    pool: readers,
    search: createSearchService({ pool: readers, engine }),
    network: networks.regtest,
    logger: silentLogger(),
    operations: testOperations(readers),
    publicOrigin: 'https://ord.example.com',
    eventKinds: [storedInscriptionKind, storedSaleKind],
  });
  await app.ready();
  return app;
}

/** Imports a collection: ids with the names of items. */
export async function importItems(
  { pool }: TestDatabase,
  meta: Partial<CollectionMeta> & { readonly slug: string },
  items: readonly (readonly [string, string | null])[],
  digest = meta.slug,
): Promise<void> {
  const nothing = { description: null, icon: null, website: null, twitter: null, discord: null };
  await withTransaction(pool, (tx) =>
    replaceCollection(
      tx,
      { name: 'Frogs', ...nothing, ...meta },
      items.map(([id, name]) => ({ id: parseInscriptionId(id)!, name })),
      Buffer.from(digest.padEnd(32).slice(0, 32)),
    ),
  );
}
