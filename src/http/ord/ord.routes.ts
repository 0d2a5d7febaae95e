import { FeeEstimates } from '#http/mempool/recommended-fees.ts';
import { BatchGate } from '#http/ord/answers/batch.ts';
import { inscriptionsRoutes } from '#http/ord/inscriptions/inscriptions.routes.ts';
import { listsRoutes } from '#http/ord/inscriptions/lists.routes.ts';
import { recursiveBlockRoutes, recursiveRoutes } from '#http/ord/inscriptions/recursive.routes.ts';
import { relativesRoutes } from '#http/ord/inscriptions/relatives.routes.ts';
import { outputsRoutes } from '#http/ord/outputs/outputs.routes.ts';
import { Outputs } from '#http/ord/outputs/outputs.ts';
import { NodeCalls } from '#http/ord/sources/node-calls.ts';
import { RawBlocks } from '#http/ord/sources/raw-blocks.ts';
import { BlockFees } from '#http/pages/chain/block-fees.ts';
import type { App, PieceDependencies } from '#http/server/routes/app-dependencies.ts';
import { BlockAnswers } from './blocks/block-answers.ts';
import { BlockInfo } from './blocks/block-info.ts';
import { heightsRoutes } from './blocks/heights.routes.ts';
import { runesRoutes } from './runes/runes.routes.ts';
import { satsRoutes } from './sats/sats.routes.ts';
import { transactionsRoutes } from './transactions/transactions.routes.ts';
import { Transactions } from './transactions/transactions.ts';

/** Sources of responses that HTML pages share with ord's paths. */
export interface OrdAnswers {
  /** Makes `/block` and `/blocks` as JSON. The HTML pages of these paths also use it. */
  readonly blocks: BlockAnswers;
  /** Finds transactions in the index, in blocks and in the node. */
  readonly transactions: Transactions;
  /** Finds fees of blocks, from the node or from the bytes of the blocks. */
  readonly fees: BlockFees;
}

/**
 * Routes of ord's JSON API (docs/ord-api.md). The routes of some HTML pages, such as `/block`, are elsewhere and use
 * the returned sources.
 */
export function ordRoutes(app: App, deps: PieceDependencies): OrdAnswers {
  const rawBlocks = new RawBlocks(deps.blocks ?? null);
  const node = deps.node == null ? null : new NodeCalls(deps.node);
  if (node !== null) deps.operations.metrics.watchQueue('calls of the node', () => node.state);
  const transactions = new Transactions(deps, node, rawBlocks);
  const blocks = new BlockAnswers(deps, node, rawBlocks);
  const batches = new BatchGate();
  heightsRoutes(app, deps, node);
  inscriptionsRoutes(app, deps, batches);
  listsRoutes(app, deps);
  relativesRoutes(app, deps);
  recursiveRoutes(app, deps);
  recursiveBlockRoutes(app, deps, blocks, new BlockInfo(deps, node, rawBlocks));
  const outputs = new Outputs(deps, node, transactions);
  const estimates = deps.node == null ? null : new FeeEstimates(deps.node);
  const sources = { deps, node, rawBlocks, transactions, outputs, estimates };
  transactionsRoutes(app, sources, blocks);
  outputsRoutes(app, sources, batches);
  satsRoutes(app, deps, node, outputs);
  runesRoutes(app, deps);
  return { blocks, transactions, fees: new BlockFees({ node, rawBlocks, network: deps.network.name }) };
}
