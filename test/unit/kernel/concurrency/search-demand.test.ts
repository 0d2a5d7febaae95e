import { describe, expect, test, vi } from 'vitest';
import { SearchDemand } from '#kernel/concurrency/search-demand.ts';

/** Makes a promise that resolves when the test calls `end`. */
function held(): { readonly done: Promise<void>; end(): void } {
  const { promise, resolve } = Promise.withResolvers<void>();
  return { done: promise, end: resolve };
}

const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('searches of a process, and background work', () => {
  test('lets all of it run at once if no one searches', async () => {
    const demand = new SearchDemand();
    const [first, second] = [held(), held()];
    const begun: string[] = [];
    const both = [first, second].map(({ done }, index) =>
      demand.turn(() => {
        begun.push(`piece ${index}`);
        return done;
      }),
    );
    await settled();
    expect(begun).toEqual(['piece 0', 'piece 1']);
    first.end();
    second.end();
    await Promise.all(both);
  });

  test('does one piece after another, in order, if a search ran a moment ago', async () => {
    let now = 0;
    const demand = new SearchDemand(() => now);
    await demand.during(async () => undefined);
    const [first, second] = [held(), held()];
    const begun: string[] = [];
    const both = [first, second].map(({ done }, index) =>
      demand.turn(() => {
        begun.push(`piece ${index}`);
        return done;
      }),
    );
    await settled();
    expect(begun).toEqual(['piece 0']);
    first.end();
    await settled();
    expect(begun).toEqual(['piece 0', 'piece 1']);
    second.end();
    await Promise.all(both);
    now = 60_000;
    expect(demand.isRecent).toBe(false);
  });

  test('begins no piece during a search, and the next one after it', async () => {
    const demand = new SearchDemand();
    const search = held();
    const searching = demand.during(() => search.done);
    let isBegun = false;
    const piece = demand.turn(() => {
      isBegun = true;
    });
    await settled();
    expect(isBegun).toBe(false);
    search.end();
    await Promise.all([searching, piece]);
    expect(isBegun).toBe(true);
  });

  test('waits at most a tenth of a second for a search, so that no load stops', async () => {
    vi.useFakeTimers();
    try {
      const demand = new SearchDemand();
      const search = held();
      const searching = demand.during(() => search.done);
      let pieces = 0;
      const work = [1, 2].map(() =>
        demand.turn(() => {
          pieces++;
        }),
      );
      await vi.advanceTimersByTimeAsync(99);
      expect(pieces).toBe(0);
      await vi.advanceTimersByTimeAsync(1);
      expect(pieces).toBe(1);
      await vi.advanceTimersByTimeAsync(100);
      expect(pieces).toBe(2);
      search.end();
      await Promise.all([searching, ...work]);
    } finally {
      vi.useRealTimers();
    }
  });

  test('gives a failure to the caller of the piece, and continues with the next', async () => {
    const demand = new SearchDemand();
    await demand.during(async () => undefined);
    const failing = demand.turn(() => {
      throw new RangeError('broken piece');
    });
    const next = demand.turn(() => 'done');
    await expect(failing).rejects.toThrow('broken piece');
    expect(await next).toBe('done');
    await expect(demand.during(() => Promise.reject(new RangeError('no search')))).rejects.toThrow(
      'no search',
    );
    expect(await demand.turn(() => 'still')).toBe('still');
  });
});
