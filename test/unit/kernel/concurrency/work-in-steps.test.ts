import { expect, test } from 'vitest';
import { atOnce, Pauses, type Steps } from '#kernel/concurrency/work-in-steps.ts';
import { ownAsker } from '#kernel/contracts/asker.ts';

/** Makes work of some steps, each of 100 kB. */
function* work(steps: number, onStep: (step: number) => void = () => undefined): Steps<number> {
  for (let step = 1; step <= steps; step++) {
    onStep(step);
    yield 100_000;
  }
  return steps;
}

test('work in steps has one result, at once and with pauses', async () => {
  expect(atOnce(work(7))).toBe(7);
  expect(await new Pauses(ownAsker('a')).run(work(7))).toBe(7);
});

test('other work runs between some steps of long work, and of many short ones', async () => {
  let turns = 0;
  let isOver = false;
  const count = (): void => {
    turns++;
    if (!isOver) setImmediate(count);
  };
  setImmediate(count);
  const pauses = new Pauses(ownAsker('a'));
  try {
    await pauses.run(work(30));
    expect(turns).toBeGreaterThanOrEqual(9);
    turns = 0;
    for (let count = 0; count < 30; count++) await pauses.run(work(1));
    expect(turns).toBeGreaterThanOrEqual(9);
  } finally {
    isOver = true;
  }
});

test('work stops once its asker has left', async () => {
  const controller = new AbortController();
  let last = 0;
  const left = new Pauses(ownAsker('a', controller.signal)).run(
    work(1000, (step) => {
      last = step;
      if (step === 4) controller.abort(new Error('left'));
    }),
  );
  await expect(left).rejects.toThrow('left');
  expect(last).toBeLessThan(10);
});
