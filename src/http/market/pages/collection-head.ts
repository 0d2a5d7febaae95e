import type { ClientBase } from 'pg';
import { areSalesLeftOut } from '#chain/sales/sale.queries.ts';
import type { CollectionNow } from '#http/market/collections/collection-parts.ts';
import { headView } from '#http/market/collections/collection-stats.routes.ts';
import { salesNote } from '#http/market/market-views.ts';
import type { SaleReads } from '#http/market/sale-reads.ts';
import { siteOf } from '#http/server/answers/site.ts';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { CollectionHead } from '#web/parts/collection-frame.ts';

/** The head that all pages of a collection show, and the first block with counted sales. */
export interface KnownHead {
  readonly head: CollectionHead;
  /** The first block with counted sales. `null` if sales are unknown. */
  readonly countedFrom: Height | null;
}

/** The head of a collection's pages. `null` if it needs a full scan that is not allowed. */
export async function knownHead(
  reads: SaleReads,
  client: ClientBase,
  deps: AppDependencies,
  { collection, tip }: CollectionNow,
  mayWalk: boolean,
): Promise<KnownHead | null> {
  const areLeftOut = await areSalesLeftOut(client);
  const coverage = await reads.coverage.read(client, tip, mayWalk);
  if (coverage === null) return null;
  const { slug, name, kind, icon } = headView(collection);
  const note = salesNote(deps.network, areLeftOut, coverage.from);
  return {
    head: { site: siteOf(deps, tip), slug, name, kind, icon, note },
    countedFrom: areLeftOut ? null : coverage.from,
  };
}
