import type pg from 'pg';
import type { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { followMempool } from '#indexer/mempool/follow/follow-mempool.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import type { CommandContext } from '#src/app/command-context.ts';

/** Follows the mempool while this process indexes. The mempool tables may have only one writer. */
export interface MempoolFollower {
  /**
   * Starts to follow the mempool. Call it when the index is at the tip, or near it. Does nothing if the mempool is
   * already followed.
   */
  start(): void;
  /** Stops following the mempool. Call it when another process indexes. */
  stop(): void;
}

export function mempoolFollower(
  { lifecycle, logger }: CommandContext,
  {
    node,
    pool,
    writer,
  }: { readonly node: BitcoinNode; readonly pool: pg.Pool; readonly writer: WriterActivity },
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
            writer,
          }),
        )
        // The mempool follower retries by the rules in the table of error codes. After any other AppError it starts
        // again when the follower of blocks is at the tip. Any error that is not an AppError is a bug, and ends the
        // process.
        .catch((error: unknown) => {
          if (!(error instanceof AppError)) lifecycle.fail(error);
          else log.error({ code: error.code, reason: error.message }, 'the mempool is no longer followed');
          if (running === controller) running = null;
        });
    },
    stop: () => {
      running?.abort();
      running = null;
    },
  };
}
