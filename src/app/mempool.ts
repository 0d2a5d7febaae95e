import type pg from 'pg';
import { followMempool } from '#indexer/mempool/stream/follow-mempool.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import type { CommandContext } from './command-context.ts';

/** Follows the mempool while this process is the one that indexes: its tables have one writer. */
export interface MempoolFollower {
  /** The index is at the tip, or near it. Nothing where it is followed already. */
  start(): void;
  /** Another process indexes. */
  stop(): void;
}

export function mempoolFollower(
  { lifecycle, logger }: CommandContext,
  node: BitcoinNode,
  pool: pg.Pool,
): MempoolFollower {
  const log = logger.child({ part: 'mempool' });
  let running: AbortController | null = null;
  return {
    start: () => {
      if (running !== null || lifecycle.signal.aborted) return;
      const controller = new AbortController();
      running = controller;
      lifecycle
        .run('mempool', (signal) =>
          followMempool({
            node,
            pool,
            network: networks[node.facts.network],
            signal: AbortSignal.any([signal, controller.signal]),
            log,
          }),
        )
        // it tries again as the table of error codes says. What ends it may be gone when the follower of blocks is at the tip again;
        // anything else is a mistake, and nothing to go on from
        .catch((error: unknown) => {
          if (!(error instanceof AppError)) lifecycle.fail(error);
          else log.error({ code: error.code, reason: error.message }, 'the mempool is not followed any more');
          if (running === controller) running = null;
        });
    },
    stop: () => {
      running?.abort();
      running = null;
    },
  };
}
