import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { BlockAnswers } from './blocks/block-answers.ts';
import { BlockInfo } from './blocks/block-info.ts';
import { heightsRoutes } from './blocks/heights.routes.ts';
import { RawBlocks } from './blocks/raw-blocks.ts';
import { inscriptionsRoutes } from './inscriptions.routes.ts';
import { listsRoutes } from './lists.routes.ts';
import { outputsRoutes } from './outputs.routes.ts';
import { Outputs } from './outputs.ts';
import { recursiveBlockRoutes, recursiveRoutes } from './recursive.routes.ts';
import { relativesRoutes } from './relatives.routes.ts';
import { transactionsRoutes } from './transactions/transactions.routes.ts';
import { Transactions } from './transactions/transactions.ts';

/**
 * The paths of ord's JSON API (docs/ord-api.md) that have no pages here. Returns the answers of `/block` and
 * `/blocks` as JSON, which the pages of these paths use.
 */
export function ordRoutes(app: App, deps: AppDependencies): BlockAnswers {
  const rawBlocks = new RawBlocks(deps.blocks ?? null);
  const transactions = new Transactions(deps, rawBlocks);
  const blocks = new BlockAnswers(deps, rawBlocks);
  heightsRoutes(app, deps);
  inscriptionsRoutes(app, deps);
  listsRoutes(app, deps);
  relativesRoutes(app, deps);
  recursiveRoutes(app, deps);
  recursiveBlockRoutes(app, deps, blocks, new BlockInfo(deps, rawBlocks));
  transactionsRoutes(app, deps, transactions, blocks);
  outputsRoutes(app, new Outputs(deps, transactions));
  return blocks;
}
