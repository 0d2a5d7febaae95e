import { describe, expect, test } from 'vitest';
import {
  blocksPerMinute,
  DaySamples,
  type MinuteSample,
  type Standpoint,
  samplesMax,
} from '#http/operations/day-samples.ts';

const at = (height: number | null): Standpoint => ({ height, lagBlocks: 1, mempool: 2 });

test('a sample counts the requests of its minute, and has their 95th percentile', async () => {
  const samples = new DaySamples(
    async () => at(5),
    () => 120_500,
  );
  for (let done = 0; done < 95; done++) samples.count(3, false);
  for (let done = 0; done < 5; done++) samples.count(2000, true);
  await samples.take();
  await samples.take();
  const [first, second] = samples.samples;
  expect(first).toMatchObject({ time: 120, height: 5, lagBlocks: 1, mempool: 2, requests: 100, searches: 5 });
  // the value is exact to a fifth
  expect(first?.p95Ms).toBeGreaterThanOrEqual(3);
  expect(first?.p95Ms).toBeLessThanOrEqual(3 * 1.2);
  expect(second).toMatchObject({ requests: 0, searches: 0, p95Ms: null });
});

test('the shortest and the longest durations are counted too', async () => {
  const samples = new DaySamples(async () => at(5));
  samples.count(0, false);
  await samples.take();
  samples.count(10 * 60_000, false);
  await samples.take();
  const [least, most] = samples.samples.map(({ p95Ms }) => p95Ms ?? 0);
  expect(least).toBe(0.1);
  expect(most).toBeGreaterThan(50_000);
});

test('a day is kept, and a database that does not answer leaves a gap', async () => {
  let minute = 0;
  const samples = new DaySamples(
    async () => {
      if (minute % 2 === 1) throw new Error('no answer');
      return at(minute);
    },
    () => minute * 60_000,
  );
  for (; minute < samplesMax + 2; minute++) await samples.take();
  expect(samples.samples.length).toBe(samplesMax);
  expect(samples.samples[0]).toMatchObject({ time: 2 * 60, height: 2 });
  expect(samples.samples[1]).toMatchObject({ time: 3 * 60, height: null, lagBlocks: null, mempool: null });
});

describe('blocks a minute', () => {
  const minutes = (heights: readonly (number | null)[]): MinuteSample[] =>
    heights.map((height, minute) => ({
      ...at(height),
      time: minute * 60,
      requests: 0,
      searches: 0,
      p95Ms: null,
    }));

  test('are those of the last ten minutes', () => {
    expect(
      blocksPerMinute(minutes([0, 9000, ...Array.from({ length: 11 }, (_, n) => 10_000 + 30 * n)])),
    ).toBe(30);
    expect(blocksPerMinute(minutes([100, null, 104]))).toBe(2);
  });

  test('are unknown without a minute between two heights, and 0 if no block was indexed or blocks were undone', () => {
    for (const heights of [[], [5], [null, 5], [null, null]])
      expect(blocksPerMinute(minutes(heights))).toBeNull();
    expect(blocksPerMinute(minutes([5, 5]))).toBe(0);
    expect(blocksPerMinute(minutes([5, 3]))).toBe(0);
  });
});
