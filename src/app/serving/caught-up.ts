import { setTimeout as sleep } from 'node:timers/promises';
import { readStanding, type Standing } from '#http/operations/chain-lag.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';

const lookEveryMs = 100;

/**
 * Waits until the index is at the tip of its source, for at most `waitMs`; stops early where a problem keeps it from
 * getting there. Reports from before this process began do not count.
 */
export async function caughtUp(
  { health, pool, startedAt }: OperationsParts,
  waitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  const deadline = performance.now() + waitMs;
  while (performance.now() < deadline && !signal.aborted) {
    if (health.problems().length > 0) return false;
    const standing = await readStanding(pool, null).catch(() => null);
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
