import type pg from 'pg';
import type { MarketListing } from '#collections/approving/market-listing.ts';
import type { Collection } from '#collections/collection/collection.store.ts';
import { openSoldCollection, soldSlugProblem } from '#market/collections/sold-collection.store.ts';

/** The market of the database. It lists collections by their names, without their texts. */
export const soldMarket = {
  slugProblem: soldSlugProblem,
  open: (tx: pg.ClientBase, { id, name }: Pick<Collection, 'id' | 'name'>) =>
    openSoldCollection(tx, {
      slug: id,
      name,
      description: null,
      website: null,
      twitter: null,
      discord: null,
    }),
} satisfies MarketListing;
