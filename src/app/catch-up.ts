import { setTimeout as sleep } from 'node:timers/promises';
import { readStanding, type Standing } from '#http/operations/chain-lag.ts';
import type { OperationsParts } from './operations.ts';

const lookEveryMs = 100;

/**
 * Waits until the index is at the tip of its source, but not longer than `waitMs`, and not where something keeps it from
 * getting there. What was said before this process began does not count.
 */
export async function caughtUp(
  { health, pool, startedAt }: OperationsParts,
  waitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline && !signal.aborted) {
    if (health.problems().length > 0) return false;
    const standing = await readStanding(pool).catch(() => null);
    const ageSeconds = (Date.now() - startedAt.getTime()) / 1000;
    if (standing !== null && (standing.ageSeconds ?? ageSeconds) < ageSeconds) {
      if (standing.status?.problem != null) return false;
      if (isAtTip(standing)) return true;
    }
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

function isAtTip({ tip, status }: Standing): boolean {
  const sourceTip = status?.sourceTip ?? null;
  if (sourceTip === null || tip === null) return false;
  return Buffer.compare(tip.hash, sourceTip.hash) === 0;
}
