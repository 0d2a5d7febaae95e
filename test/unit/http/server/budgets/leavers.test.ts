import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Leavers } from '#http/server/budgets/leavers.ts';
import { testAsker } from '#test/support/http/asker.ts';

/**
 * Reports requests of a client that ended, one every ten milliseconds from `fromMs` on. Returns the time of the last
 * request.
 */
function tell(leavers: Leavers, client: string, count: number, staysMs: number | null, fromMs = 0): number {
  for (let place = 0; place < count; place++) leavers.ended(client, staysMs, fromMs + 10 * place);
  return fromMs + 10 * (count - 1);
}

describe('the requests of a client', () => {
  test('wait twice as long as it used to stay once it leaves most of them', () => {
    const leavers = new Leavers();
    const nowMs = tell(leavers, 'leaver', 20, 8);
    expect(leavers.waitMs('leaver', nowMs)).toBeCloseTo(16);
    expect(leavers.waitMs('another', nowMs)).toBe(0);
  });

  test('do not wait if it leaves a few, or fewer than it stays for', () => {
    const leavers = new Leavers();
    expect(leavers.waitMs('few', tell(leavers, 'few', 4, 8))).toBe(0);
    tell(leavers, 'some', 10, 8);
    expect(leavers.waitMs('some', tell(leavers, 'some', 20, null, 100))).toBe(0);
  });

  test('no longer wait some seconds after it left the last one', () => {
    const leavers = new Leavers();
    const nowMs = tell(leavers, 'leaver', 50, 8);
    expect(leavers.waitMs('leaver', nowMs + 1_000)).toBeGreaterThan(0);
    expect(leavers.waitMs('leaver', nowMs + 30_000)).toBe(0);
  });

  test('never wait long, and not at all if it never leaves, for any order of ends', () => {
    const request = fc.record({
      client: fc.constantFrom('a', 'b', 'stays'),
      staysMs: fc.option(fc.double({ min: 0, max: 1e6, noNaN: true })),
      afterMs: fc.nat({ max: 2_000 }),
    });
    fc.assert(
      fc.property(fc.array(request, { maxLength: 200 }), (requests) => {
        const leavers = new Leavers();
        let nowMs = 0;
        for (const { client, staysMs, afterMs } of requests) {
          nowMs += afterMs;
          leavers.ended(client, client === 'stays' ? null : staysMs, nowMs);
          for (const one of ['a', 'b']) {
            const waitMs = leavers.waitMs(one, nowMs);
            expect(waitMs === 0 || (waitMs >= 4 && waitMs <= 50)).toBe(true);
          }
          expect(leavers.waitMs('stays', nowMs)).toBe(0);
        }
      }),
    );
  });

  test('end their wait when the client leaves', async () => {
    const leavers = new Leavers();
    for (let left = 0; left < 20; left++) leavers.ended('leaver', 1_000);
    const gone = new AbortController();
    const waiting = leavers.wait(testAsker('leaver', gone.signal));
    gone.abort(new Error('gone'));
    await expect(waiting).rejects.toThrow('gone');
    await leavers.wait(testAsker('leaver'));
    await leavers.wait(testAsker('another'));
  });
});
