import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { forgetFullBuckets, type LeaseAsk, lease } from '#accounts/lease.store.ts';
import type { Rate } from '#accounts/rate.ts';
import { type Decision, leaseCap, leaseMs, RateLimiter } from '#accounts/rate-limiter.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { propertyBounds } from '#test/support/property-runs.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.drop());

let subjects = 0;
const aMinute = (burst: number): Rate => ({ burst, perSeconds: 60 });
const newSubject = (): string => `subject ${subjects++}`;

/** Processes that share the buckets of the database. They all use one clock, which the test moves. */
class Processes {
  readonly limiters: RateLimiter[];
  statements = 0;
  #nowMs = 0;

  constructor(count: number) {
    const ask = (asks: readonly LeaseAsk[]): ReturnType<typeof lease> => {
      this.statements++;
      return lease(database.pool, asks, new Date(Date.UTC(2026, 0, 1) + this.#nowMs));
    };
    this.limiters = Array.from(
      { length: count },
      () => new RateLimiter({ lease: ask, now: () => this.#nowMs }),
    );
  }

  get now(): number {
    return this.#nowMs;
  }

  /** Advances the time. Then every process does its periodic work. */
  pass(milliseconds: number): void {
    this.#nowMs += milliseconds;
    for (const limiter of this.limiters) limiter.giveBackExpired();
  }

  async close(): Promise<void> {
    for (const limiter of this.limiters) await limiter.close();
  }
}

describe('a bucket of several processes', () => {
  test('never gives more than limit + rate × span + (lease − 1) × processes, in any span, whatever they do', async () => {
    const step = fc.record({
      process: fc.nat(2),
      requests: fc.integer({ min: 0, max: 40 }),
      // some requests arrive while a statement is running
      isSpread: fc.boolean(),
      thenMs: fc.constantFrom(0, 1, 100, 700, leaseMs, 5000, 60_000),
    });
    const runs = fc.asyncProperty(
      fc.integer({ min: 1, max: 3 }),
      fc.constantFrom(1, 2, 5, 60, 100, 600),
      fc.constantFrom(1, 10, 60, 3600),
      fc.array(step, { minLength: 1, maxLength: 40 }),
      async (count, burst, perSeconds, steps) => {
        const rate = { burst, perSeconds };
        const processes = new Processes(count);
        const subject = newSubject();
        const allowedAt: number[] = [];
        for (const { process, requests, isSpread, thenMs } of steps) {
          const limiter = processes.limiters[process % count] as RateLimiter;
          const asked: Promise<Decision>[] = [];
          for (let request = 0; request < requests; request++) {
            asked.push(Promise.resolve(limiter.take(subject, rate)));
            if (isSpread) await nextTurn();
          }
          const decisions = await Promise.all(asked);
          for (const { isAllowed } of decisions) if (isAllowed) allowedAt.push(processes.now);
          processes.pass(thenMs);
        }
        await processes.close();
        const slack = (leaseCap(rate) - 1) * count;
        for (let from = 0; from < allowedAt.length; from++) {
          for (let to = from; to < allowedAt.length; to++) {
            const span = allowedAt[to]! - allowedAt[from]!;
            expect(to - from + 1).toBeLessThanOrEqual(
              burst + (burst / (perSeconds * 1000)) * span + slack + 1e-6,
            );
          }
        }
      },
    );
    await fc.assert(runs, propertyBounds(15));
  });

  test('gives all of its tokens, wherever they are requested, once leases have ended', async () => {
    const processes = new Processes(3);
    const subject = newSubject();
    const [first, second] = processes.limiters as [RateLimiter, RateLimiter];
    // send requests, so that the leases grow
    for (let request = 0; request < 20; request++)
      expect((await first.take(subject, aMinute(600))).isAllowed).toBe(true);
    processes.pass(leaseMs);
    await first.take('another', aMinute(600));
    let allowed = 0;
    while ((await second.take(subject, aMinute(600))).isAllowed) allowed++;
    // the tokens that flowed in at the same time did not fit
    expect(allowed).toBe(600);
    await processes.close();
  });

  test('gives all of its tokens, and no more, to callers that arrive while a statement is running', async () => {
    const processes = new Processes(1);
    const [limiter] = processes.limiters as [RateLimiter];
    const subject = newSubject();
    const decisions: Promise<Decision>[] = [];
    while (decisions.length < 800) {
      for (let one = 0; one < 3; one++) decisions.push(Promise.resolve(limiter.take(subject, aMinute(600))));
      // about as long as a statement takes
      await sleep(1);
    }
    const allowed = (await Promise.all(decisions)).filter(({ isAllowed }) => isAllowed);
    expect(allowed).toHaveLength(600);
    await processes.close();
  });

  test('says how long to wait, exact to the millisecond', async () => {
    const processes = new Processes(1);
    const [limiter] = processes.limiters as [RateLimiter];
    const subject = newSubject();
    for (let request = 0; request < 5; request++) {
      const { isAllowed, remaining, rate } = await limiter.take(subject, aMinute(5));
      expect({ isAllowed, remaining, rate }).toEqual({
        isAllowed: true,
        remaining: 4 - request,
        rate: aMinute(5),
      });
    }
    const refused = await limiter.take(subject, aMinute(5));
    expect(refused).toMatchObject({ isAllowed: false, remaining: 0, retryAfterMs: 12_000, resetMs: 60_000 });
    processes.pass(11_999);
    expect((await limiter.take(subject, aMinute(5))).isAllowed).toBe(false);
    processes.pass(1);
    expect((await limiter.take(subject, aMinute(5))).isAllowed).toBe(true);
    expect((await limiter.take(subject, aMinute(5))).isAllowed).toBe(false);
    await processes.close();
  });
});

describe('a bucket of 2 in 10 seconds', () => {
  test('gives two at once and one in five seconds, exactly so over several processes', async () => {
    const processes = new Processes(3);
    const subject = newSubject();
    const rate = { burst: 2, perSeconds: 10 };
    const take = async (): Promise<boolean[]> => {
      const decisions = processes.limiters.map(async (limiter) => limiter.take(subject, rate));
      return (await Promise.all(decisions)).map(({ isAllowed }) => isAllowed);
    };
    const allowed = async (): Promise<number> => (await take()).filter(Boolean).length;
    expect(await allowed()).toBe(2);
    expect(await allowed()).toBe(0);
    processes.pass(4999);
    expect(await allowed()).toBe(0);
    processes.pass(1);
    expect(await allowed()).toBe(1);
    processes.pass(3_600_000);
    expect(await allowed()).toBe(2);
    await processes.close();
  });
});

describe('the database', () => {
  test('is asked once in the time of a lease by a client with a steady rate, and not at all for refused requests', async () => {
    const processes = new Processes(1);
    const [limiter] = processes.limiters as [RateLimiter];
    const subject = newSubject();
    // ten requests a second, which is the full rate
    for (let request = 0; request < 200; request++) {
      expect((await limiter.take(subject, aMinute(600))).isAllowed).toBe(true);
      processes.pass(100);
    }
    expect(processes.statements).toBeLessThanOrEqual(200 / 10);

    while ((await limiter.take(subject, aMinute(600))).isAllowed);
    const before = processes.statements;
    for (let request = 0; request < 1000; request++) await limiter.take(subject, aMinute(600));
    expect(processes.statements).toBe(before);
    await processes.close();
  });

  test('is asked for many clients in one statement', async () => {
    const processes = new Processes(1);
    const [limiter] = processes.limiters as [RateLimiter];
    const decisions = await Promise.all(
      Array.from({ length: 500 }, async () => limiter.take(newSubject(), aMinute(10))),
    );
    expect(decisions.every(({ isAllowed }) => isAllowed)).toBe(true);
    expect(processes.statements).toBe(1);
    await processes.close();
  });

  test('is not waited for in a circle by processes that ask for the same clients in any order', async () => {
    const names = Array.from({ length: 200 }, newSubject);
    const asks = (order: readonly string[]): LeaseAsk[] =>
      order.map((subject) => ({ subject, perSecond: 1, burst: 10_000, wanted: 1, givenBack: 0 }));
    const all = await Promise.all(
      Array.from({ length: 40 }, (_, index) =>
        lease(database.pool, asks(index % 2 === 0 ? names : names.toReversed())),
      ),
    );
    expect(all.flat().every(({ granted }) => granted === 1)).toBe(true);
    const { rows } = await database.pool.query<{ lowest: number; highest: number }>(
      'SELECT min(level) AS lowest, max(level) AS highest FROM service.rate_limits WHERE subject = ANY($1)',
      [names],
    );
    // 40 tokens were taken of each subject, and fewer than 30 flowed in
    expect(rows[0]?.lowest).toBeGreaterThanOrEqual(9960);
    expect(rows[0]?.highest).toBeLessThan(9990);
  });

  test('that fails is reported to all waiting callers, and the next one asks again', async () => {
    let fails = true;
    const limiter = new RateLimiter({
      lease: (asks) => (fails ? Promise.reject(new Error('gone')) : lease(database.pool, asks)),
    });
    const subject = newSubject();
    const waiting = [limiter.take(subject, aMinute(5)), limiter.take(subject, aMinute(5))];
    for (const one of waiting) await expect(one).rejects.toMatchObject({ code: 'access_unavailable' });
    fails = false;
    expect((await limiter.take(subject, aMinute(5))).isAllowed).toBe(true);
    await limiter.close();
  });

  test('forgets only buckets that are full again', async () => {
    await database.pool.query('TRUNCATE service.rate_limits');
    const ask = { perSecond: 1, burst: 10, wanted: 5, givenBack: 0 };
    await lease(database.pool, [{ ...ask, subject: 'full again' }], new Date(Date.now() - 60_000));
    await lease(database.pool, [{ ...ask, subject: 'in use' }]);
    expect(await forgetFullBuckets(database.pool)).toBe(1);
    const { rows } = await database.pool.query('SELECT subject FROM service.rate_limits');
    expect(rows).toEqual([{ subject: 'in use' }]);
  });
});
