import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { AppError } from '#kernel/errors/app-error.ts';
import { Patience, Retry } from '#kernel/retry.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const unreachable = new AppError('node_unreachable', 'gone');

/** Runs work that fails a number of times. Returns the pauses between its attempts. */
async function pausesOf(retry: Retry, failures: number, error: Error = unreachable): Promise<number[]> {
  const times: number[] = [];
  const done = retry.run(async (attempt) => {
    times.push(performance.now());
    if (attempt <= failures) throw error;
    return Promise.resolve();
  });
  done.catch(() => undefined);
  await vi.runAllTimersAsync();
  await done;
  return times.slice(1).map((time, index) => Math.round(time - times[index]!));
}

test('waits twice as long after each failure, up to a limit', async () => {
  const retry = new Retry({ budgetMs: 60_000, firstPauseMs: 100, pauseMaxMs: 600, random: () => 0.5 });
  expect(await pausesOf(retry, 5)).toEqual([75, 150, 300, 450, 450]);
});

test('waits from half of the pause to all of it, at random', async () => {
  let turn = 0;
  const random = (): number => [0.5, 0, 0.25][turn++]!;
  const retry = new Retry({ budgetMs: 60_000, firstPauseMs: 100, random });
  expect((await pausesOf(retry, 3)).map((pause) => Math.round(pause / 10) * 10)).toEqual([80, 100, 250]);
});

test('gives up with the last failure when the budget is spent', async () => {
  const onRetry = vi.fn();
  const retry = new Retry({ budgetMs: 1000, firstPauseMs: 100, random: () => 0.999_999, onRetry });
  await expect(pausesOf(retry, 1000)).rejects.toBe(unreachable);
  expect(onRetry).toHaveBeenCalledTimes(3);
});

test.each([
  new AppError('node_refused', 'wrong password'),
  new AppError('network_mismatch', 'another network'),
  new AppError('node_pruned', 'gone for good'),
  new Error('a broken invariant'),
])('does not try again after $message', async (error) => {
  await expect(pausesOf(new Retry({ budgetMs: 60_000 }), 1, error)).rejects.toBe(error);
});

test('repeats a call with a wrong answer, and leaves replanning to its caller', async () => {
  const truncated = new AppError('block_truncated', 'cut');
  const unavailable = new AppError('block_unavailable', 'not there');
  const retry = new Retry({ budgetMs: 60_000 });
  expect(await pausesOf(retry, 2, truncated)).toHaveLength(2);
  await expect(pausesOf(retry, 6, truncated)).rejects.toBe(truncated);
  await expect(pausesOf(retry, 1, unavailable)).rejects.toBe(unavailable);
});

test('counts the tries after a wrong answer from the first one, whatever failed before', async () => {
  const truncated = new AppError('block_truncated', 'cut');
  const patience = new Patience();
  for (let failure = 0; failure < 8; failure++) expect(patience.delayAfter(unreachable)).not.toBeNull();
  for (let failure = 0; failure < 5; failure++) expect(patience.delayAfter(truncated)).not.toBeNull();
  expect(patience.delayAfter(truncated)).toBeNull();
});

test('sends a cookie again once a minute if it may wait for people', async () => {
  const refused = new AppError('node_refused', 'an old cookie');
  const retry = new Retry({ hasCookieFile: true, waitsForPeople: true });
  expect(await pausesOf(retry, 3, refused)).toEqual([60_000, 60_000, 60_000]);
  await expect(pausesOf(new Retry({ hasCookieFile: true }), 1, refused)).rejects.toBe(refused);
});

test('stops waiting when its signal is aborted', async () => {
  const controller = new AbortController();
  const work = vi.fn(() => Promise.reject(unreachable));
  const retry = new Retry({ budgetMs: 60_000, firstPauseMs: 10_000, random: () => 0.9 });
  const running = retry.run(work, controller.signal);
  running.catch(() => undefined);
  await vi.advanceTimersByTimeAsync(10);
  controller.abort();
  await vi.runAllTimersAsync();
  await expect(running).rejects.toMatchObject({ name: 'AbortError' });
  expect(work).toHaveBeenCalledTimes(1);
  await expect(retry.run(work, controller.signal)).rejects.toMatchObject({ name: 'AbortError' });
  expect(work).toHaveBeenCalledTimes(1);
});
