import type pg from 'pg';
import { openChainSession } from '#indexer/apply/chain-session.ts';
import { type UndoHook, undoAbove } from '#indexer/apply/undo.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

export interface RollbackOptions {
  readonly pool: pg.Pool;
  readonly network: NetworkName;
  /** The highest block that is kept. -1: no block is kept. */
  readonly height: Height;
  readonly signal: AbortSignal;
  readonly undoHooks?: readonly UndoHook[];
  /** Older blocks of the chain, as opened by `openPast` of `FollowOptions`. */
  readonly past?: PastChain | undefined;
  /** Called after each block that was taken back. */
  readonly onUndone?: (ref: BlockRef) => void;
}

export interface RollbackSummary {
  /** Number of blocks taken back. */
  readonly blocks: number;
  /** The remaining tip. Null: no block remains. */
  readonly tip: BlockRef | null;
}

/**
 * Takes back all blocks above a height, in one transaction per block. Reads only the tables. Throws `database_busy`
 * while another process holds the writer's lock.
 */
export async function rollback(options: RollbackOptions): Promise<RollbackSummary> {
  const { pool, network, height, signal, undoHooks, onUndone, past } = options;
  try {
    const session = await openChainSession(pool, network);
    try {
      let blocks = 0;
      const tip = await undoAbove(session.writer, height, undoHooks ?? [], {
        signal,
        past,
        onUndone: ({ ref }) => {
          blocks++;
          onUndone?.(ref);
        },
      });
      return { blocks, tip };
    } finally {
      await session.close();
    }
  } catch (error) {
    throw postgresFailure(error);
  }
}
