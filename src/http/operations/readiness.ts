import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { Problem } from '#kernel/reports/health.ts';
import type { Standing } from './chain-lag.ts';

/**
 * How long an indexer may be silent, in seconds. After that, its process is considered as ended or its machine as
 * stopped. A running indexer reports every few seconds; this limit is a dozen times as long.
 */
export const indexerSilenceMaxSeconds = 60;
/**
 * How long an indexer that waits without the lock may be silent, in seconds. It reports every 3 s, so three reports are
 * then missing.
 */
export const waitingSilenceMaxSeconds = 10;

export interface Reason {
  readonly code: ErrorCode;
  readonly message: string;
  /** Start of the problem. `null` if unknown. */
  readonly since: Date | null;
}

export interface ReadinessBounds {
  /** Maximum number of missing blocks of a service that is ready. */
  readonly lagMaxBlocks: number;
}

/**
 * Returns reasons why responses may be out of date or fail. If there are none, the service is ready. Pure. An indexer's
 * silence is not a reason if the source is a folder that was indexed completely, because no indexer is needed then.
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
    const message = `The index is ${lag.blocks} blocks behind ${status?.source ?? 'the source'}, at height ${tip.height}.`;
    add({ code: 'index_behind', message, since: null });
  }
  return reasons;
}

/** The state of the indexing process. `gone` means that the process that reported last has ended or stopped. */
export type FollowerState = FollowerStatus['state'] | 'gone';

/**
 * Returns the state of the indexing process. Its lock shows that the process is running. While the process waits for
 * its node or the database, it has no lock. Then the age of its last report decides, because it reports every few
 * seconds. `null` if there is no report yet.
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
