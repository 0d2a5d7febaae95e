import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { BlockRef } from './block-source.ts';

/**
 * The last report of the indexing process (chain.follower_status), for processes that answer requests.
 * - `syncing`: the process is many blocks behind.
 * - `following`: the process is at the tip, or a few blocks behind.
 * - `waiting`: the process waits for the reason in `problem`.
 * - `ended`: the process reached the end of the source, or stopped.
 */
export interface FollowerStatus {
  readonly state: 'syncing' | 'following' | 'waiting' | 'ended';
  /** Name of the source for messages, for example `node http://127.0.0.1:8332`. */
  readonly source: string;
  /** Best block of the source when the source was last read. `null` if the source was never reached. */
  readonly sourceTip: BlockRef | null;
  readonly problem: { readonly code: ErrorCode; readonly message: string; readonly since: Date } | null;
  /** Time of the report. A report is written with every change, and every few seconds without a change. */
  readonly updatedAt: Date;
}
