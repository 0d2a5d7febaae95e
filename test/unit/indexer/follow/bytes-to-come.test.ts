import { expect, test } from 'vitest';
import { BytesToCome } from '#indexer/follow/bytes-to-come.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

const { signal } = new AbortController();

function sourceOf(sizeOf: BlockSource['sizeOf']): BlockSource {
  return { sizeOf } as BlockSource;
}

const coming = (count: number): { count: number; heightAt: (index: number) => Height } => ({
  count,
  heightAt: (index) => asHeight(1000 + index),
});

test('knows the size of a few blocks exactly', async () => {
  const source = sourceOf((height) => Promise.resolve(height));
  const toCome = await BytesToCome.sample(source, coming(3), signal);
  expect([-1, 0, 1, 2, 3, 4].map((done) => toCome?.after(done))).toEqual([3003, 3003, 2003, 1002, 0, 0]);
});

test('weighs the late blocks of a long chain, not their number', async () => {
  let asked = 0;
  // blocks of the second half are nine times as large
  const source = sourceOf((height) => {
    asked++;
    return Promise.resolve(height < 51_000 ? 100 : 900);
  });
  const toCome = await BytesToCome.sample(source, coming(100_000), signal);
  expect(toCome?.after(0)).toBeCloseTo(50e6, -4);
  expect(toCome?.after(50_000)).toBeCloseTo(45e6, -4);
  expect(asked).toBeLessThan(100);
});

test('is unknown if the source knows no sizes', async () => {
  expect(
    await BytesToCome.sample(
      sourceOf(() => Promise.resolve(null)),
      coming(3),
      signal,
    ),
  ).toBeNull();
  expect(await BytesToCome.sample({} as BlockSource, coming(3), signal)).toBeNull();
});
