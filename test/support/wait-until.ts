import { setTimeout as delay } from 'node:timers/promises';

export interface WaitOptions {
  /** Default: 90 s, as a busy machine needs for what an idle one does in a few. */
  readonly limitMs?: number;
  /** Between two looks. Default: 20 ms. */
  readonly everyMs?: number;
}

/**
 * Settles when a condition holds, with what it gives: it is asked again while it gives false, or throws (as an
 * expectation does that is not met yet). When time is up, it throws what was thrown last.
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
      failure = new Error(`not so within ${limitMs} ms: ${isSo.toString().slice(0, 200)}`);
    } catch (error) {
      failure = error;
    }
    if (performance.now() > deadline) throw failure;
    await delay(everyMs);
  }
}
