import fc from 'fast-check';
import { expect, test } from 'vitest';
import { formatSaleId, parseSaleId } from '#market/sales/sale-id.ts';
import { type RangeEnd, salesOfRange } from '#market/sales/sale-range.ts';
import { placesOf, soldChains } from '#test/support/market/sold-blocks.ts';

const day = 86_400;
const end = fc.option(
  fc.oneof(
    fc.nat({ max: 13 }).map((height): RangeEnd => ({ height })),
    fc.nat({ max: 4 }).map((days): RangeEnd => ({ dayStart: days * day })),
  ),
);
const mark = '0123456789abcdef';

test('the parts of a range have its sales in order, and resume after each of them', () => {
  fc.assert(
    fc.property(soldChains(4 * day), end, end, fc.integer({ min: 1, max: 7 }), (blocks, from, to, count) => {
      const all = placesOf(
        blocks.filter(
          ({ height, time }) =>
            (from === null || ('height' in from ? height >= from.height : time >= from.dayStart)) &&
            (to === null || ('height' in to ? height <= to.height : time < to.dayStart + day)),
        ),
      );
      const range = { from, to };
      const parts = [...salesOfRange(blocks, range, null, count)];
      expect(parts.flat()).toEqual(all);
      expect(parts.slice(0, -1).every(({ length }) => length === count)).toBe(true);
      for (const [nth, place] of all.entries())
        expect([...salesOfRange(blocks, range, place, count)].flat()).toEqual(all.slice(nth + 1));
    }),
  );
});

test('an id of a sale is read back, and nothing else is one', () => {
  fc.assert(
    fc.property(
      fc.nat(2 ** 31 - 1),
      fc.nat(9_999_999),
      fc.nat(9_999_999),
      fc.nat(9_999_999),
      (height, txIndex, input, place) => {
        const id = { height, txIndex, input, place };
        expect(parseSaleId(formatSaleId(id, mark))).toEqual({ place: id, blockMark: mark });
      },
    ),
  );
  const bad = [
    '',
    '1.2.3',
    `1.2.3.4.${mark.toUpperCase()}`,
    `1.2.3.-4.${mark}`,
    `2147483648.0.0.0.${mark}`,
    ` 1.2.3.4.${mark}`,
  ];
  for (const text of bad) expect(parseSaleId(text)).toBeNull();
});
