import { expect, test } from 'vitest';
import { withWorkBeside } from '#orders/following/follow-orders.ts';

/** Work that ends once its signal is aborted, and notes that. */
function working(name: string, ended: string[]): (signal: AbortSignal) => Promise<void> {
  return (signal) =>
    new Promise((resolve) => {
      signal.addEventListener(
        'abort',
        () => {
          ended.push(name);
          resolve();
        },
        { once: true },
      );
    });
}

test('indices are released until the last look at orders has ended, and a miner is asked no more at once', async () => {
  const controller = new AbortController();
  const { promise: lastLook, resolve: endLook } = Promise.withResolvers<void>();
  const ended: string[] = [];
  const releasing = working('releasing', ended);
  const following = withWorkBeside(
    {
      releaseIndices: (signal) => ({ tried: Promise.resolve(), ended: releasing(signal) }),
      handPackages: working('miner', ended),
      signal: controller.signal,
    },
    async (signal) => {
      controller.abort();
      expect(signal.aborted).toBe(true);
      await lastLook;
      ended.push('looks');
    },
  );
  await Promise.resolve();
  endLook();
  await following;
  expect(ended).toEqual(['miner', 'looks', 'releasing']);
});

test('a process that ends before any index is released looks at no order with its signal', async () => {
  const controller = new AbortController();
  const ended: string[] = [];
  const { promise: tried, resolve } = Promise.withResolvers<void>();
  const following = withWorkBeside(
    {
      releaseIndices: (signal) => {
        signal.addEventListener('abort', () => resolve(), { once: true });
        return { tried, ended: working('releasing', ended)(signal) };
      },
      handPackages: null,
      signal: controller.signal,
    },
    (signal) => {
      expect(signal.aborted).toBe(true);
      return Promise.resolve();
    },
  );
  controller.abort();
  await following;
  expect(ended).toEqual(['releasing']);
});

test('looks end where releasing fails for good, with its reason', async () => {
  const ended: string[] = [];
  const { promise, reject } = Promise.withResolvers<void>();
  const following = withWorkBeside(
    {
      releaseIndices: () => ({ tried: Promise.resolve(), ended: promise }),
      handPackages: null,
      signal: new AbortController().signal,
    },
    (signal) => {
      const looks = working('looks', ended)(signal);
      reject(new Error('no mark'));
      return looks;
    },
  );
  await expect(following).rejects.toThrow('no mark');
  expect(ended).toEqual(['looks']);
});
