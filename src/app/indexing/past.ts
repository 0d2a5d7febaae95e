import type pg from 'pg';
import { knownRefs } from '#indexer/follow/known-blocks.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Retry } from '#kernel/retry.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import { NodePast } from '#sat-ranges/node-past.ts';
import { NodeTraceSource } from '#sat-ranges/node-trace-source.ts';

/** How often progress is logged, in ms. One block of mainnet takes minutes or hours to undo. */
const progressEveryMs = 10_000;

export interface PastParts {
  /** Pool of the index. */
  readonly pool: pg.Pool;
  readonly node: BitcoinNode;
  /** Blocks of the node. */
  readonly blocks: Pick<BlockSource, 'read'>;
  readonly logger: Logger;
}

/** How long a failed read is retried, in ms. The node or its server may restart meanwhile. */
const retryBudgetMs = 300_000;

/**
 * Reads the past of the indexed chain from a node. The node still has blocks that have left its chain. Use the result
 * for one undo only, because the result keeps the hashes of the current chain.
 */
export function pastOfNode({ pool, node, blocks, logger }: PastParts): PastChain {
  let toldAt = performance.now();
  return new NodePast({
    retry: new Retry({ budgetMs: retryBudgetMs, hasCookieFile: node.hasCookieFile }),
    source: new NodeTraceSource(node.rpc, blocks, {
      chain: async (height, count) => {
        const client = await pool.connect();
        try {
          const refs = await knownRefs(client, asHeight(Math.max(0, height - count + 1)), height + 1);
          return refs.toReversed().map(({ hash }) => displayHash(hash));
        } finally {
          client.release();
        }
      },
    }),
    readBlock: async ({ hash }, signal) => {
      const [bytes, spent] = await Promise.all([
        node.block(hash, { signal }),
        node.spentOutputs(hash, { signal, withHeights: true }),
      ]);
      const { heights } = spent;
      if (heights === null)
        throw new AppError(
          'node_answer_invalid',
          'The node does not return the heights of the outputs that a block spends.',
        );
      return { bytes, spentOutputs: spent.bytes, spentHeights: heights };
    },
    onStep: (taken) => {
      if (performance.now() - toldAt < progressEveryMs) return;
      toldAt = performance.now();
      logger.info(
        { transactions: taken },
        'tracing the sats that a block spent, in order to take the block back',
      );
    },
  });
}
