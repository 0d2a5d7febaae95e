import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { Problem } from '#kernel/health.ts';
import type { Standing } from './chain-lag.ts';

/**
 * An indexer that lives writes every few seconds; one that has said nothing for so long is gone, or its machine stands
 * still. A dozen times its usual silence.
 */
export const indexerSilenceMaxSeconds = 60;
/** One that waits without the lock writes every 3 s too: three words are missing. */
export const waitingSilenceMaxSeconds = 10;

export interface Reason {
  readonly code: ErrorCode;
  readonly message: string;
  /** Null where nobody knows since when. */
  readonly since: Date | null;
}

export interface ReadinessBounds {
  /** More blocks behind, and it is not ready. */
  readonly lagMaxBlocks: number;
}

/**
 * Why answers may be out of date or not come at all; empty: ready. Pure. A source that has an end (a folder) and reached
 * it needs no indexer any more.
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
    add({ code: 'nothing_indexed', message: 'Nothing is indexed yet.', since: null });
  } else if (lag !== null && lag.blocks > lagMaxBlocks) {
    const message = `${lag.blocks} blocks behind ${status?.source ?? 'the source'}, at height ${tip.height}.`;
    add({ code: 'index_behind', message, since: null });
  }
  return reasons;
}

/** `gone`: the process that said so is not there any more, or stands still. */
export type FollowerState = FollowerStatus['state'] | 'gone';

/**
 * What the process that indexes does, judged by the lock that it holds, and by its last word where it holds none: while it waits for
 * its node or for the database it has no lock, but says so every few seconds. Null: none has said anything yet.
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
    return { code: 'indexer_gone', message: 'No indexing process has said anything yet.', since: null };
  }
  const isLive = !status.source.startsWith('folder ');
  const state = followerState(standing);
  if (state !== 'gone' && !(state === 'ended' && isLive)) return null;
  const silence = hasWriter ? `has said nothing for ${Math.round(ageSeconds ?? 0)} s` : 'is gone';
  const message =
    state === 'ended'
      ? `The process that followed ${status.source} has ended.`
      : `The process that indexed ${status.source} ${silence}.`;
  return { code: 'indexer_gone', message, since: status.updatedAt };
}
