import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { ComingBlocks } from '#indexer/follow/bytes-to-come.ts';
import { LoadSizes } from '#indexer/follow/load-sizes.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { asHeight } from '#kernel/primitives/height.ts';

const { signal } = new AbortController();
const coming = (count: number): ComingBlocks => ({ count, heightAt: (index) => asHeight(index) });

/** A source whose blocks all have the same size. It returns the sizes after `tell` was called. */
function sourceOf(bytes: number): { source: BlockSource; tell: () => void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  const sizeOf = (): Promise<number> => promise.then(() => bytes);
  return { source: { sizeOf } as unknown as BlockSource, tell: resolve };
}

async function settled(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await nextTurn();
}

test('counts the mean of the blocks so far until the sizes of coming blocks are known', async () => {
  const sizes = new LoadSizes();
  const { source, tell } = sourceOf(100);
  sizes.begin(source, coming(10), 5, signal);
  expect(sizes.bytesLeft({ blocks: 0, bytes: 0 }, 10)).toBeNull();
  expect(sizes.bytesLeft({ blocks: 5, bytes: 50 }, 10)).toBe(100);
  tell();
  await settled();
  expect(sizes.bytesLeft({ blocks: 7, bytes: 250 }, 8)).toBeCloseTo(800);
  // the chain grew by two blocks in the meantime
  expect(sizes.bytesLeft({ blocks: 7, bytes: 250 }, 10)).toBeCloseTo(1000);
  expect(sizes.bytesLeft({ blocks: 17, bytes: 1250 }, 0)).toBe(0);
});

test('sizes of a load that arrive late do not count for the next one', async () => {
  const sizes = new LoadSizes();
  const [first, second] = [sourceOf(1), sourceOf(100)];
  sizes.begin(first.source, coming(10), 0, signal);
  sizes.begin(second.source, coming(20), 10, signal);
  second.tell();
  await settled();
  first.tell();
  await settled();
  expect(sizes.bytesLeft({ blocks: 10, bytes: 10 }, 20)).toBeCloseTo(2000);
});
