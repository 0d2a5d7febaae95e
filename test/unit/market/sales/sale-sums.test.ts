import fc from 'fast-check';
import { expect, test } from 'vitest';
import { placeBytes, type SoldInBlock } from '#market/sales/sale-places.ts';
import { type SaleSums, sumsBetween, sumsByDay, sumsOf } from '#market/sales/sale-sums.ts';

const sale = fc.record({ price: fc.nat(1_000_000), wash: fc.boolean() });
const blocks = fc.array(
  fc.record({ time: fc.nat(10 * 86_400), sold: fc.array(sale, { minLength: 1, maxLength: 5 }) }),
  { maxLength: 20 },
);
type Sold = { readonly price: number; readonly wash: boolean };

const blockOf = (height: number, time: number, sold: readonly Sold[]): SoldInBlock => {
  const { sales: _, ...sums } = naiveSums(sold);
  return { height, time, places: new Uint8Array(sold.length * placeBytes), ...sums };
};

function naiveSums(sold: readonly Sold[]): SaleSums {
  const [washed, real] = [sold.filter(({ wash }) => wash), sold.filter(({ wash }) => !wash)];
  const total = (of: readonly Sold[]): number => of.reduce((sum, { price }) => sum + price, 0);
  const prices = real.map(({ price }) => price);
  return {
    sales: real.length,
    volume: total(real),
    washSales: washed.length,
    washVolume: total(washed),
    lowest: prices.length === 0 ? null : Math.min(...prices),
  };
}

test('sums of days are those of their sales, in the order of days, and make the sums of all', () => {
  fc.assert(
    fc.property(blocks, (chain) => {
      const kept = chain.map(({ time, sold }, height) => blockOf(height, time, sold));
      const byDay = new Map<string, Sold[]>();
      for (const { time, sold } of chain) {
        const day = new Date(time * 1000).toISOString().slice(0, 10);
        byDay.set(day, [...(byDay.get(day) ?? []), ...sold]);
      }
      const expected = [...byDay]
        .toSorted(([one], [other]) => (one < other ? -1 : 1))
        .map(([day, sold]) => ({ day: Date.parse(day) / 86_400_000, ...naiveSums(sold) }));
      expect(sumsByDay(kept)).toEqual(expected);
      expect(sumsOf(kept)).toEqual(naiveSums(chain.flatMap(({ sold }) => sold)));
    }),
  );
});

test('sums of a span have the blocks from its first second to before its end', () => {
  fc.assert(
    fc.property(blocks, fc.nat(10 * 86_400), fc.nat(10 * 86_400), (chain, from, to) => {
      const kept = chain.map(({ time, sold }, height) => blockOf(height, time, sold));
      const within = chain.filter(({ time }) => time >= from && time < to);
      expect(sumsBetween(kept, from, to)).toEqual(naiveSums(within.flatMap(({ sold }) => sold)));
    }),
  );
});
