import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test, vi } from 'vitest';
import { FairGate, type FairGateOptions } from '#kernel/concurrency/fair-gate.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { testAsker } from '#test/support/http/asker.ts';

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: unknown) => (error as { code?: string }).code ?? error,
  );

const refusal = (): AppError => new AppError('search_busy', 'full');
const gateOf = (options: Omit<FairGateOptions, 'refusal'>): FairGate => new FairGate({ ...options, refusal });

/** Makes work that ends when the test calls `end`. */
function held(): { readonly work: () => Promise<string>; readonly end: () => void; started: boolean } {
  let end = (): void => undefined;
  const done = new Promise<void>((resolve) => {
    end = resolve;
  });
  const one = {
    started: false,
    end,
    work: async () => {
      one.started = true;
      await done;
      return 'done';
    },
  };
  return one;
}

describe('a gate', () => {
  test('lets a bounded number run and wait, in turn, and refuses the others', async () => {
    const gate = gateOf({ running: 2, waiting: 2, waitMs: 10_000 });
    const all = [held(), held(), held(), held(), held()];
    const answers = all.map(({ work }) => codeOf(gate.run(undefined, work)));
    await sleep(1);
    expect(all.map(({ started }) => started)).toEqual([true, true, false, false, false]);
    expect(await answers[4]).toBe('search_busy');
    all[1]?.end();
    await answers[1];
    expect(all.map(({ started }) => started)).toEqual([true, true, true, false, false]);
    for (const one of all) one.end();
    expect(await Promise.all(answers)).toEqual(['done', 'done', 'done', 'done', 'search_busy']);
    expect(await gate.run(undefined, () => Promise.resolve('free'))).toBe('free');
  });

  test('with one place serves clients in rounds, even after many requests of another', async () => {
    const gate = gateOf({ running: 1, waiting: 20, waitMs: 60_000 });
    const order: string[] = [];
    const run = (client: string): Promise<number> =>
      gate.run(testAsker(client), async () => order.push(client));
    const many = Array.from({ length: 5 }, () => run('many'));
    const others = [run('one'), run('two'), run('one')];
    await Promise.all([...many, ...others]);
    expect(order).toEqual(['many', 'one', 'two', 'many', 'one', 'many', 'many', 'many']);
  });

  test('counts a client among the others even if its request needs no place', async () => {
    const gate = gateOf({ running: 8, eachBesideOthers: 2, waiting: 20, waitMs: 60_000 });
    gate.sees('many');
    gate.sees('another');
    const many = Array.from({ length: 5 }, () => held());
    const answers = many.map(({ work }) => gate.run(testAsker('many'), work));
    await sleep(1);
    expect(many.filter(({ started }) => started)).toHaveLength(2);
    for (const one of many) one.end();
    await Promise.all(answers);
  });

  test('lets no new request of a client pass its own waiting ones', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const gate = gateOf({ running: 8, eachBesideOthers: 1, waiting: 20, waitMs: 60_000 });
    gate.sees('another');
    const order: number[] = [];
    const enter = (place: number): Promise<() => void> =>
      gate.enter(testAsker('many')).then((leave) => {
        order.push(place);
        return leave;
      });
    const first = await enter(0);
    const second = enter(1);
    // the client is alone again, so it may have more places
    vi.advanceTimersByTime(10_000);
    const third = enter(2);
    first();
    (await second)();
    (await third)();
    expect(order).toEqual([0, 1, 2]);
    vi.useRealTimers();
  });

  test('gives a client fewer places while others ask too, and all of them again when it is alone', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const gate = gateOf({ running: 8, each: 6, eachBesideOthers: 2, waiting: 20, waitMs: 60_000 });
    const many = testAsker('many');
    const leaves: (() => void)[] = [];
    const enter = async (): Promise<void> => void leaves.push(await gate.enter(many));
    // no other client has asked for a long time
    (await gate.enter(many))();
    vi.advanceTimersByTime(60_000);
    for (let place = 0; place < 10; place++) void enter();
    await vi.advanceTimersByTimeAsync(0);
    expect([gate.places.length, gate.state.length]).toEqual([6, 4]);
    (await gate.enter(testAsker('one')))();
    // the client's places become free, and only two of them are given out again
    for (const leave of leaves.splice(0)) leave();
    await vi.advanceTimersByTimeAsync(0);
    expect([gate.places.length, gate.state.length]).toEqual([2, 2]);
    void enter();
    await vi.advanceTimersByTimeAsync(60_000 - 1);
    // the other client has not asked for a while
    leaves.shift()?.();
    await vi.advanceTimersByTimeAsync(0);
    expect([gate.places.length, gate.state.length]).toEqual([4, 0]);
    vi.useRealTimers();
  });

  test('lets a place rest in proportion to its use while others ask too, for its own client alone', async () => {
    vi.useFakeTimers({ toFake: ['performance', 'setTimeout', 'clearTimeout'] });
    const gate = gateOf({
      running: 1,
      eachBesideOthers: 1,
      restsBesideOthers: 3,
      waiting: 20,
      waitMs: 60_000,
    });
    const order: string[] = [];
    const enter = async (client: string): Promise<() => void> => {
      const leave = await gate.enter(testAsker(client));
      order.push(`${client} ${performance.now() - beganMs}`);
      return leave;
    };
    let beganMs = performance.now();
    // while the client is alone, its place does not pause
    (await enter('many'))();
    const first = await enter('many');
    gate.sees('another');
    const second = enter('many');
    vi.advanceTimersByTime(10);
    first();
    // only the client of the pausing place waits, so another client can use the place
    (await enter('another'))();
    await vi.advanceTimersByTimeAsync(40);
    const leaveSecond = await second;
    // a use of several seconds causes no longer pause than a use of some ten milliseconds
    await vi.advanceTimersByTimeAsync(3000);
    gate.sees('another');
    leaveSecond();
    beganMs = performance.now();
    const third = enter('many');
    await vi.advanceTimersByTimeAsync(100);
    (await third)();
    expect(order).toEqual(['many 0', 'many 0', 'another 10', 'many 40', 'many 100']);
    vi.useRealTimers();
  });

  test('forgets clients that leave while they wait, or wait too long', async () => {
    const gate = gateOf({ running: 1, waiting: 5, waitMs: 30 });
    const first = held();
    const running = gate.run(undefined, first.work);
    const controller = new AbortController();
    const reason = new Error('gone');
    const gone = codeOf(gate.run(testAsker('gone', controller.signal), () => Promise.resolve('never')));
    const patient = codeOf(gate.run(undefined, () => Promise.resolve('never')));
    controller.abort(reason);
    expect(await gone).toBe(reason);
    expect(await patient).toBe('search_busy');
    first.end();
    expect(await running).toBe('done');
    expect(await codeOf(gate.run(testAsker('gone', controller.signal), () => Promise.resolve('never')))).toBe(
      reason,
    );
    expect(await gate.run(undefined, () => Promise.resolve('free'))).toBe('free');
  });

  test('never lets more run than its bound, and always frees their places, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ms: fc.integer({ min: 0, max: 4 }), fails: fc.boolean() }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        async (works, running) => {
          const gate = gateOf({ running, waiting: 8, waitMs: 10_000 });
          let now = 0;
          let most = 0;
          await Promise.all(
            works.map(({ ms, fails }) =>
              codeOf(
                gate.run(undefined, async () => {
                  most = Math.max(most, ++now);
                  await sleep(ms);
                  now--;
                  if (fails) throw new Error('failed');
                }),
              ),
            ),
          );
          expect(most).toBe(Math.min(running, works.length));
          expect(now).toBe(0);
          expect(await gate.run(undefined, () => Promise.resolve('free'))).toBe('free');
        },
      ),
      { numRuns: 30 },
    );
  });

  test('gives a free place to the client with the fewest, however long others wait', async () => {
    const gate = gateOf({ running: 3, each: 2, waiting: 10, waitMs: 10_000 });
    const greedy = testAsker('greedy');
    const works = [held(), held(), held(), held()];
    const answers = works.map(({ work }) => gate.run(greedy, work));
    await sleep(1);
    // the client's share is two places, even though a third place is free
    expect(works.map(({ started }) => started)).toEqual([true, true, false, false]);
    const [modest, other] = [held(), held()];
    const answered = [gate.run(testAsker('modest'), modest.work), gate.run(testAsker('other'), other.work)];
    await sleep(1);
    expect([modest.started, other.started]).toEqual([true, false]);
    works[0]?.end();
    await sleep(1);
    expect([other.started, works[2]?.started]).toEqual([true, false]);
    for (const one of [modest, other, ...works]) one.end();
    await Promise.all([...answers, ...answered]);
    expect(gate.places.length).toBe(0);
    expect(gate.state.length).toBe(0);
  });

  test('frees a place once, however often it is asked to', async () => {
    const gate = gateOf({ running: 1, waiting: 5, waitMs: 10_000 });
    const leave = await gate.enter(testAsker());
    leave();
    const next = await gate.enter(testAsker());
    leave();
    expect(gate.places.length).toBe(1);
    next();
    expect(gate.places.length).toBe(0);
  });
});
