import { expect, test } from 'vitest';
import { withWorkBeside } from '#orders/following/follow-orders.ts';

/** Makes work that ends once its signal is aborted, and records its end. */
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

test('indices are released until the last look has ended, but a miner is no longer asked immediately', async () => {
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

test('a process that stops before an index is released looks at orders with an aborted signal', async () => {
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

test('looks end with the reason if releasing fails for good', async () => {
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
