import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageOfSales, placeBytes, type SalePlace, type SoldInBlock } from '#market/sales/sale-places.ts';

type Sale = readonly [txIndex: number, input: number, place: number];

function block(height: number, time: number, sales: readonly Sale[]): SoldInBlock {
  const places = Buffer.alloc(sales.length * placeBytes);
  for (const [nth, numbers] of sales.entries())
    for (const [at, number] of numbers.entries()) places.writeInt32BE(number, nth * placeBytes + at * 4);
  return { height, time, places };
}

const sales = fc.array(fc.tuple(fc.nat({ max: 9_000 }), fc.nat({ max: 9 }), fc.nat({ max: 3 })), {
  minLength: 1,
  maxLength: 9,
});
const chains = fc
  .array(fc.record({ time: fc.nat({ max: 30 }), sales }), { maxLength: 12 })
  .map((blocks) => blocks.map(({ time, sales: sold }, height) => block(height, time, sold)));
const orders = fc.constantFrom('asc', 'desc');
const sinces = fc.option(fc.nat({ max: 30 }));

describe('a page of the sales of a collection', () => {
  test('is a part of all sales of blocks from a time on, in the order of the chain or backwards', () => {
    fc.assert(
      fc.property(
        chains,
        orders,
        sinces,
        fc.nat({ max: 9 }),
        fc.integer({ min: 1, max: 9 }),
        (blocks, order, since, page, limit) => {
          const all: SalePlace[] = blocks
            .filter(({ time }) => since === null || time >= since)
            .flatMap(({ height, places }) => {
              const bytes = Buffer.from(places);
              return Array.from({ length: bytes.length / placeBytes }, (_, nth) => ({
                height,
                txIndex: bytes.readInt32BE(nth * placeBytes),
                input: bytes.readInt32BE(nth * placeBytes + 4),
                place: bytes.readInt32BE(nth * placeBytes + 8),
              }));
            });
          const ordered = order === 'asc' ? all : all.toReversed();
          const expected = ordered.slice(page * limit, (page + 1) * limit);
          expect(pageOfSales(blocks, { since, order, page, limit })).toEqual(expected);
        },
      ),
    );
  });

  test('is empty far behind the last one', () => {
    const blocks = [block(5, 100, [[1, 0, 0]])];
    expect(pageOfSales(blocks, { since: null, order: 'asc', page: 1_000_000_000, limit: 100 })).toEqual([]);
  });
});
