import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { BlockRef } from './block-source.ts';

/**
 * The last report of the indexing process (chain.follower_status), for processes that answer requests. `syncing`: many
 * blocks behind. `following`: at the tip, or a few blocks behind. `waiting`: for the reason in `problem`. `ended`: the
 * source's end was reached, or the process stopped.
 */
export interface FollowerStatus {
  readonly state: 'syncing' | 'following' | 'waiting' | 'ended';
  /** Name for messages, e.g. `node http://127.0.0.1:8332`. */
  readonly source: string;
  /** Best block of the source when it was last read. Null: it was never reached. */
  readonly sourceTip: BlockRef | null;
  readonly problem: { readonly code: ErrorCode; readonly message: string; readonly since: Date } | null;
  /** Time of the report: written with every change, and every few seconds without one. */
  readonly updatedAt: Date;
}
