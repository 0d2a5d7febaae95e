import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Maximum time to wait, in ms. Default: 90 s, because a busy machine is many times slower than an idle one. */
  readonly limitMs?: number;
  /** Time between two checks, in ms. Default: 20. */
  readonly everyMs?: number;
}

/**
 * Repeats a check until its condition is true, and settles with the result. The check may return `false` or throw (like
 * an unmet expectation). At the time limit it throws the last error.
 */
export async function waitUntil<Found>(
  isSo: () => Promise<Found> | Found,
  { limitMs = 90_000, everyMs = 20 }: WaitOptions = {},
): Promise<Exclude<Found, false>> {
  const deadline = performance.now() + limitMs;
  for (;;) {
    let failure: unknown;
    try {
      const found = await isSo();
      if (found !== false) return found as Exclude<Found, false>;
      failure = new Error(`not true within ${limitMs} ms: ${isSo.toString().slice(0, 200)}`);
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) throw failure;
    await delay(everyMs);
  }
}
