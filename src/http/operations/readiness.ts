import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { Problem } from '#kernel/reports/health.ts';
import type { Standing } from './chain-lag.ts';

/**
 * Seconds of silence after which an indexer has ended or its machine has stopped. A live one writes every few seconds;
 * this is a dozen times as long.
 */
export const indexerSilenceMaxSeconds = 60;
/** The same for an indexer that waits without the lock. It writes every 3 s too, so three reports are missing. */
export const waitingSilenceMaxSeconds = 10;

export interface Reason {
  readonly code: ErrorCode;
  readonly message: string;
  /** Null if the start is unknown. */
  readonly since: Date | null;
}

export interface ReadinessBounds {
  /** Missing blocks above which the service is not ready. */
  readonly lagMaxBlocks: number;
}

/**
 * The reasons why answers may be out of date or fail; empty: ready. Pure. A folder that was indexed completely needs no
 * indexer any more.
 */
export function unreadyReasons(
  standing: Standing,
  own: readonly Problem[],
  { lagMaxBlocks }: ReadinessBounds,
): readonly Reason[] {
  const reasons: Reason[] = [];
  const add = (reason: Reason): void => {
    if (!reasons.some(({ code }) => code === reason.code)) reasons.push(reason);
  };
  for (const problem of own) add(problem);
  const { status, tip, lag } = standing;
  if (status?.problem !== null && status?.problem !== undefined) add(status.problem);
  const silence = silenceOf(standing);
  if (silence !== null) add(silence);
  if (tip === null) {
    add({ code: 'nothing_indexed', message: 'No block is indexed yet.', since: null });
  } else if (lag !== null && lag.blocks > lagMaxBlocks) {
    const message = `${lag.blocks} blocks behind ${status?.source ?? 'the source'}, at height ${tip.height}.`;
    add({ code: 'index_behind', message, since: null });
  }
  return reasons;
}

/** `gone`: the process that reported this has ended or stopped. */
export type FollowerState = FollowerStatus['state'] | 'gone';

/**
 * The state of the indexing process, judged by its lock, or by its last report if it holds no lock: while it waits for
 * its node or the database it has no lock, but reports every few seconds. Null: no report yet.
 */
export function followerState({
  status,
  ageSeconds,
  hasWriter,
}: Pick<Standing, 'status' | 'ageSeconds' | 'hasWriter'>): FollowerState | null {
  if (status === null) return null;
  const { state } = status;
  if (state === 'ended') return state;
  if (!hasWriter && state !== 'waiting') return 'gone';
  const silenceMaxSeconds = hasWriter ? indexerSilenceMaxSeconds : waitingSilenceMaxSeconds;
  return (ageSeconds ?? 0) > silenceMaxSeconds ? 'gone' : state;
}

function silenceOf(standing: Standing): Reason | null {
  const { status, ageSeconds, hasWriter } = standing;
  if (status === null) {
    return { code: 'indexer_gone', message: 'No indexing process has reported yet.', since: null };
  }
  const isLive = !status.source.startsWith('folder ');
  const state = followerState(standing);
  if (state !== 'gone' && !(state === 'ended' && isLive)) return null;
  const silence = hasWriter ? `has not reported for ${Math.round(ageSeconds ?? 0)} s` : 'is gone';
  const message =
    state === 'ended'
      ? `The process that followed ${status.source} has ended.`
      : `The process that indexed ${status.source} ${silence}.`;
  return { code: 'indexer_gone', message, since: status.updatedAt };
}
