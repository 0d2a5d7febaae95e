import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { ByteCache } from '#search/segments/byte-cache.ts';

describe('a cache of a number of bytes', () => {
  test('never keeps more than that, and keeps what was used last', () => {
    const step = fc.record({
      key: fc.constantFrom('a', 'b', 'c', 'd', 'e'),
      bytes: fc.integer({ min: 1, max: 60 }),
    });
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const cache = new ByteCache<number>(100);
        // entries in the order of their last use
        let kept: { key: string; bytes: number }[] = [];
        for (const { key, bytes } of steps) {
          const known = kept.find((entry) => entry.key === key);
          expect(cache.get(key)).toBe(known?.bytes);
          if (known === undefined) cache.set(key, bytes, bytes);
          kept = [...kept.filter((entry) => entry.key !== key), known ?? { key, bytes }];
          while (kept.reduce((sum, entry) => sum + entry.bytes, 0) > 100) kept.shift();
        }
      }),
    );
  });

  test('keeps null, and leaves what is larger than it alone', () => {
    const cache = new ByteCache<null>(100);
    cache.set('null', null, 50);
    cache.set('large', null, 101);
    expect(cache.get('null')).toBeNull();
    expect(cache.get('large')).toBeUndefined();
  });
});
