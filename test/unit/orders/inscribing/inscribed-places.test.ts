import fc from 'fast-check';
import { expect, test } from 'vitest';
import { inscribedPlaces } from '#orders/inscribing/inscribed-places.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { quoteOrder } from '#orders/inscribing/quote-order.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { dummyKeys, type MadeOrder, makeOrder, orders, somePrices } from './made-orders.ts';
import { satsOf } from './traced-sats.ts';

/** How many sats of the payments come before each inscription, when the planned transactions move them. */
function traced(terms: OrderTerms, counts: readonly number[], { commit, reveals }: MadeOrder): number[] {
  return reveals.flatMap((reveal, index) =>
    satsOf(terms, reveal, counts[index]!).map(({ input, at, offset }) => {
      if (commit === null) return Number(valueOf(reveal.inputs.slice(terms.parents.length, at)) + offset);
      expect(input.txid).toEqual(dummyKeys.txidOf(commit));
      return Number(valueOf(commit.outputs.slice(0, input.vout)) + offset);
    }),
  );
}

const amounts = (most: number, count: number): fc.Arbitrary<bigint[]> =>
  fc.array(fc.integer({ min: 330, max: most }).map(BigInt), { maxLength: count });

test('inscriptions are on the sats of payments at their places, for any payments and parents', () => {
  let compared = 0;
  let inMany = 0;
  fc.assert(
    fc.property(
      orders,
      somePrices,
      fc.tuple(amounts(1000, 3), amounts(1_000_000, 1)),
      fc.array(fc.integer({ min: -700, max: 700 }).map(BigInt), { minLength: 2, maxLength: 2 }),
      (terms, given, [parts, more], differs) => {
        const quote = quoteOrder(terms, given);
        if (quote.kind === 'refused') return;
        const rest = quote.amount - parts.reduce((total, value) => total + value, 0n);
        if (rest < 330n) return;
        const payments = [...parts, rest, ...more];
        const parents = terms.parents.map(({ value }, index) => value + differs[index]!);
        const values = (all: readonly bigint[]) => all.map((value) => ({ value }));
        const spent = { payments: values(payments), parents: values(parents) };
        const found = inscribedPlaces(terms, quote.layout, spent);
        const make = (): MadeOrder => makeOrder(terms, quote, dummyKeys, { payments, parents });
        if (found.kind === 'refused') {
          expect(make).toThrow(found.reason);
          return;
        }
        let made: MadeOrder;
        try {
          made = make();
        } catch {
          // a direct reveal or a burn cannot be paid in parts
          return;
        }
        const counts = quote.layout.reveals.map(({ count }) => count);
        expect(found.places).toEqual(traced(terms, counts, made));
        expect(found.places).toEqual([...new Set(found.places)].toSorted((a, b) => a - b));
        compared++;
        if (made.reveals.length > 1) inMany++;
      },
    ),
    // of 500 random orders, 17 to 40 have several reveals
    { numRuns: propertyRuns(1000) },
  );
  expect(compared).toBeGreaterThan(40);
  expect(inMany).toBeGreaterThan(7);
});
