import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageOfSales } from '#market/sales/sale-places.ts';
import { placesOf, soldChains, soldInBlock } from '#test/support/market/sold-blocks.ts';

const orders = fc.constantFrom('asc', 'desc');
const sinces = fc.option(fc.nat({ max: 30 }));

describe('a page of the sales of a collection', () => {
  test('is a part of all sales of blocks from a time on, in the order of the chain or backwards', () => {
    fc.assert(
      fc.property(
        soldChains(30),
        orders,
        sinces,
        fc.nat({ max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (blocks, order, since, page, limit) => {
          const all = placesOf(blocks.filter(({ time }) => since === null || time >= since));
          const ordered = order === 'asc' ? all : all.toReversed();
          const expected = ordered.slice(page * limit, (page + 1) * limit);
          expect(pageOfSales(blocks, { since, order, page, limit })).toEqual(expected);
        },
      ),
    );
  });

  test('is empty far after the last one', () => {
    const blocks = [soldInBlock(5, 100, [[1, 0, 0]])];
    expect(pageOfSales(blocks, { since: null, order: 'asc', page: 1_000_000_000, limit: 100 })).toEqual([]);
  });
});
