import { randomBytes } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { findLockTime, lockTimeFirst } from '#orders/grinding/find-lock-time.ts';
import { LockTimes } from '#orders/grinding/lock-times.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';

/** Size of a reveal of one inscription without its witness, with one input and two outputs, in bytes. */
const unsignedBytes = 137;
const prefix = 'abcd';
const searches = 60;
const orderId = 'bench';

/** Waits until the searches of a transaction by `LockTimes` have ended. */
async function searched(lockTimes: LockTimes, unsigned: Uint8Array): Promise<void> {
  const ended = new Promise<void>((resolve) => {
    lockTimes.onEnd(resolve);
  });
  if (lockTimes.of(orderId, [unsigned], prefix) === null) await ended;
}

/**
 * Measures how fast prefixes of txids are found: the tries of one thread, and searches one after another in the
 * service's threads.
 */
export async function grindingFigures(): Promise<Figure[]> {
  let tries = 0;
  const startedAt = performance.now();
  for (let nth = 0; nth < searches; nth++)
    tries += findLockTime(randomBytes(unsignedBytes), prefix) - lockTimeFirst + 1;
  const perSecond = (tries * 1000) / (performance.now() - startedAt);
  const lockTimes = new LockTimes();
  const times: number[] = [];
  try {
    // the first search starts the threads
    await searched(lockTimes, randomBytes(unsignedBytes));
    for (let nth = 0; nth < searches; nth++) {
      const at = performance.now();
      await searched(lockTimes, randomBytes(unsignedBytes));
      times.push(performance.now() - at);
    }
  } finally {
    await lockTimes.close();
  }
  return [
    { name: 'grindTriesPerSecond', value: perSecond, unit: '/s of a thread' },
    { name: 'grind4HexP95Ms', value: percentile(times, 0.95), unit: 'ms', target: { most: 1000 } },
  ];
}
