import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import type { Problem } from '#kernel/health.ts';
import type { Standing } from './chain-lag.ts';

/**
 * An indexer that lives writes every few seconds; one that has said nothing for so long is gone, or its machine stands
 * still. A dozen times its usual silence.
 */
export const indexerSilenceMaxSeconds = 60;

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

function silenceOf({ status, ageSeconds }: Standing): Reason | null {
  if (status === null) {
    return { code: 'indexer_gone', message: 'No indexing process has said anything yet.', since: null };
  }
  const isLive = !status.source.startsWith('folder ');
  if (status.state === 'ended') {
    if (!isLive) return null;
    const message = `The process that followed ${status.source} has ended.`;
    return { code: 'indexer_gone', message, since: status.updatedAt };
  }
  if (ageSeconds === null || ageSeconds <= indexerSilenceMaxSeconds) return null;
  const message = `The process that indexes ${status.source} has said nothing for ${Math.round(ageSeconds)} s.`;
  return { code: 'indexer_gone', message, since: status.updatedAt };
}
