import fc from 'fast-check';
import { expect, test } from 'vitest';
import { rangeAt } from '#search/elastic/pages/key-ranges.ts';

test('the range of a rank is the one that has its match', () => {
  const counts = fc.array(fc.nat({ max: 5 }), { maxLength: 20 });
  fc.assert(
    fc.property(counts, fc.nat({ max: 50 }), fc.nat({ max: 160 }), (list, before, rank) => {
      const ranges = list.map((count, at) => ({ from: at * 10, to: at * 10 + 10, count }));
      const owners = list.flatMap((count, at) => Array<number>(count).fill(at));
      const found = rangeAt(ranges, before, before + rank);
      const owner = owners[rank];
      if (owner === undefined) expect(found).toBeNull();
      else {
        expect(found).toEqual({ ...ranges[owner], before: before + owners.indexOf(owner) });
      }
    }),
  );
});
