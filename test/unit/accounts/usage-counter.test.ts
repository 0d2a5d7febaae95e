import { describe, expect, test, vi } from 'vitest';
import type { UsageLine } from '#accounts/usage.store.ts';
import { UsageCounter, usageFlushMs } from '#accounts/usage-counter.ts';

const nothing = (): void => undefined;

describe('usage', () => {
  test('is summed by key, day and routes, and written once', async () => {
    const written: UsageLine[][] = [];
    let now = new Date('2026-11-21T23:59:59Z');
    const counter = new UsageCounter({
      write: async (lines) => {
        written.push([...lines]);
      },
      onError: nothing,
      now: () => now,
    });
    counter.count(1, 'search', 'requests');
    counter.count(1, 'search', 'requests');
    counter.count(1, 'search', 'refused');
    now = new Date('2026-11-22T00:00:01Z');
    counter.count(1, 'search', 'requests');
    counter.count(2, 'hashes', 'requests');
    await counter.flush();
    await counter.close();
    expect(written).toEqual([
      [
        { keyId: 1, day: '2026-11-21', endpoints: 'search', requests: 2, refused: 1 },
        { keyId: 1, day: '2026-11-22', endpoints: 'search', requests: 1, refused: 0 },
        { keyId: 2, day: '2026-11-22', endpoints: 'hashes', requests: 1, refused: 0 },
      ],
    ]);
  });

  test('that could not be written comes with the next batch, with later usage', async () => {
    const errors: unknown[] = [];
    const totals: number[] = [];
    let fails = true;
    const counter = new UsageCounter({
      write: async ([line]) => {
        if (fails) throw new Error('gone');
        totals.push(line?.requests ?? 0);
      },
      onError: (error) => errors.push(error),
    });
    counter.count(1, 'search', 'requests');
    const first = counter.flush();
    counter.count(1, 'search', 'requests');
    await first;
    expect(errors).toHaveLength(1);
    fails = false;
    await counter.close();
    expect(totals).toEqual([2]);
  });

  test('is written by itself within the stated time', async () => {
    vi.useFakeTimers();
    try {
      let requests = 0;
      const counter = new UsageCounter({
        write: async ([line]) => {
          requests += line?.requests ?? 0;
        },
        onError: nothing,
      });
      counter.count(1, 'search', 'requests');
      await vi.advanceTimersByTimeAsync(usageFlushMs);
      expect(requests).toBe(1);
      await counter.close();
    } finally {
      vi.useRealTimers();
    }
  });
});
