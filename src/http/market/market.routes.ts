import { collectionFeedRoutes } from '#http/feeds/collection-feed.routes.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { collectionHoldersRoutes } from './collections/collection-holders.routes.ts';
import { collectionItemsRoutes } from './collections/collection-items.routes.ts';
import { collectionStatsRoutes } from './collections/collection-stats.routes.ts';
import { collectionsRoutes } from './collections/collections.routes.ts';
import { collectionsOfRoutes } from './collections/collections-of.routes.ts';
import { custodialRoutes } from './custodial.routes.ts';
import { collectionRoutes } from './pages/collection.routes.ts';
import { collectionTabsRoutes } from './pages/collection-tabs.routes.ts';
import { marketPageRoutes } from './pages/market.routes.ts';
import { marketActivityPageRoutes } from './pages/market-activity.routes.ts';
import { SaleReads } from './sale-reads.ts';
import { activityRoutes } from './sales/activity.routes.ts';
import { exportRoutes } from './sales/export.routes.ts';
import { saleRoutes } from './sales/sale.routes.ts';

/** Routes of sales and collections. All of them share the same data in memory. */
export function marketRoutes(app: App, deps: AppDependencies): void {
  const reads = new SaleReads(deps.pool, deps.operations);
  activityRoutes(app, deps, reads);
  exportRoutes(app, deps, reads);
  saleRoutes(app, deps);
  collectionsRoutes(app, reads);
  collectionsOfRoutes(app, deps);
  collectionStatsRoutes(app, reads);
  collectionHoldersRoutes(app, deps, reads);
  collectionItemsRoutes(app, deps, reads);
  marketPageRoutes(app, deps, reads);
  marketActivityPageRoutes(app, deps, reads);
  collectionRoutes(app, deps, reads);
  collectionTabsRoutes(app, deps, reads);
  collectionFeedRoutes(app, deps, reads);
  custodialRoutes(app);
}
