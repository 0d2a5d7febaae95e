import { liveRoutes } from '#http/live/live.routes.ts';
import { LiveFacts } from '#http/live/live-facts.ts';
import { LiveStreams } from '#http/live/live-streams.ts';
import type { OrdAnswers } from '#http/ord/ord.routes.ts';
import type { App, PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import { accountRoutes } from './account.routes.ts';
import { assetsRoutes } from './assets.routes.ts';
import { blockRoutes } from './block.routes.ts';
import { blocksRoutes } from './blocks.routes.ts';
import { etchRoutes } from './etch.routes.ts';
import { homeRoutes } from './home.routes.ts';
import { inscribeRoutes } from './inscribe.routes.ts';
import { inscriptionRoutes } from './inscription.routes.ts';
import { keyRoutes } from './key.routes.ts';
import { mintRuneRoutes } from './mint-rune.routes.ts';
import { siteFilesRoutes } from './site-files.routes.ts';

/** Routes of the HTML pages that belong to no other subject, and of the files that pages load. */
export function pageRoutes(
  app: App,
  deps: PieceDependencies,
  { blocks, transactions, fees }: OrdAnswers,
): void {
  const live = new LiveFacts(deps.node ?? null);
  homeRoutes(app, { ...deps, transactions }, live);
  liveRoutes(app, new LiveStreams(app, deps, live));
  blocksRoutes(app, deps, blocks);
  blockRoutes(app, deps, { blocks, fees });
  inscriptionRoutes(app, deps);
  inscribeRoutes(app, deps);
  etchRoutes(app, deps);
  mintRuneRoutes(app, deps);
  assetsRoutes(app);
  siteFilesRoutes(app);
  keyRoutes(app, deps);
  accountRoutes(app, deps);
}
