import { setTimeout as sleep } from 'node:timers/promises';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { SearchGate } from '#search/service/search-gate.ts';

const codeOf = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    (value) => value,
    (error: unknown) => (error as { code?: string }).code ?? error,
  );

/** Work that ends when it is told to. */
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

describe('the gate of searches', () => {
  test('lets so many run and so many wait, in turn, and refuses the others', async () => {
    const gate = new SearchGate({ running: 2, waiting: 2, waitMs: 10_000 });
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

  test('forgets who goes away while it waits, and who waits too long', async () => {
    const gate = new SearchGate({ running: 1, waiting: 5, waitMs: 30 });
    const first = held();
    const running = gate.run(undefined, first.work);
    const controller = new AbortController();
    const reason = new Error('gone');
    const gone = codeOf(gate.run(controller.signal, () => Promise.resolve('never')));
    const patient = codeOf(gate.run(undefined, () => Promise.resolve('never')));
    controller.abort(reason);
    expect(await gone).toBe(reason);
    expect(await patient).toBe('search_busy');
    first.end();
    expect(await running).toBe('done');
    expect(await codeOf(gate.run(controller.signal, () => Promise.resolve('never')))).toBe(reason);
    expect(await gate.run(undefined, () => Promise.resolve('free'))).toBe('free');
  });

  test('never lets more run than it may, and always frees their room, whatever fails', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ ms: fc.integer({ min: 0, max: 4 }), fails: fc.boolean() }), { maxLength: 30 }),
        fc.integer({ min: 1, max: 4 }),
        async (works, running) => {
          const gate = new SearchGate({ running, waiting: 8, waitMs: 10_000 });
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
});
