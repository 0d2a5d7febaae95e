import { storedInscriptionKind } from '#chain/events/inscription-texts.queries.ts';
import { storedRuneKind } from '#chain/events/rune-texts.queries.ts';
import { storedSaleKind } from '#chain/events/sale-texts.queries.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { parseInscriptionId } from '#kernel/primitives/inscription-id.ts';
import type { CollectionMeta } from '#market/collections/collection.store.ts';
import { replaceCollection } from '#market/collections/collection.store.ts';
import type { TestDatabase } from '#test/support/database.ts';
import { buildCheckedApp } from '#test/support/http/checked-app.ts';
import { readerParts } from '#test/support/http/reader-parts.ts';

/** An app that reads the index of a node's chain. */
export async function marketApp(
  { readers }: TestDatabase,
  rates: Pick<AppDependencies, 'fxRates'> = {},
): Promise<ReturnType<typeof buildCheckedApp>> {
  const app = buildCheckedApp({
    ...readerParts(readers),
    ...rates,
    publicOrigin: 'https://ord.example.com',
    eventKinds: [storedInscriptionKind, storedRuneKind, storedSaleKind],
  });
  await app.ready();
  return app;
}

/** Imports a collection from ids, the names of items, and their traits. */
export async function importItems(
  { pool }: TestDatabase,
  meta: Partial<CollectionMeta> & { readonly slug: string },
  items: readonly (readonly [string, string | null, traits?: Readonly<Record<string, string>> | undefined])[],
  digest = meta.slug,
): Promise<void> {
  const nothing = { description: null, icon: null, website: null, twitter: null, discord: null };
  await withTransaction(pool, (tx) =>
    replaceCollection(
      tx,
      { name: 'Frogs', ...nothing, ...meta },
      items.map(([id, name, traits = {}]) => ({
        id: parseInscriptionId(id)!,
        name,
        traits: Object.entries(traits).map(([trait, value]) => ({ name: trait, value })),
      })),
      Buffer.from(digest.padEnd(32).slice(0, 32)),
    ),
  );
}
