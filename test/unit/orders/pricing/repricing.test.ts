import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { completedAt, decidePrice, quoteAtRate } from '#orders/pricing/repricing.ts';
import { wantedOrder } from '#test/builders/wanted-order.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const held = new Date('2026-01-01T01:00:00Z');
const late = new Date(held.getTime() + 1);
const price = { heldUntil: held, estimate: 1000n, feeRate: 1000n };

describe('the price of an order', () => {
  test.each([
    ['completed within its hold', price, held, 15_000n, 'held'],
    ['of an earlier version', { ...price, heldUntil: null }, late, 15_000n, 'held'],
    ['made without an estimate', { ...price, estimate: null }, late, 15_000n, 'unknown'],
    ['made at an estimate of zero', { ...price, estimate: 0n }, late, 15_000n, 'unknown'],
    ['completed without an estimate', price, late, null, 'unknown'],
    ['at the estimate', { ...price, feeRate: 15_000n }, late, 15_000n, 'own-fee'],
    ['above the estimate', { ...price, feeRate: 20_000n }, late, 15_000n, 'own-fee'],
    ['after a rise of a half', price, late, 1500n, 'small-rise'],
    ['after a fall', { ...price, estimate: 20_000n }, late, 5000n, 'small-rise'],
  ] as const)('is kept for one %s', (_, standing, at, now, because) => {
    expect(decidePrice(standing, at, now)).toEqual({ kind: 'kept', because });
  });

  test.each([
    ['just above a half', 1000n, 1000n, 1501n, 1501n],
    ['of fifteen times', 1000n, 1000n, 15_000n, 15_000n],
    // A customer who chose a low rate still waits. A customer who paid more than needed pays no more than the estimate.
    ['for a customer who asked for less', 4000n, 1000n, 15_000n, 3750n],
    ['for a customer who asked for more', 4000n, 10_000n, 15_000n, 15_000n],
    ['in whole units, rounded up', 3000n, 1000n, 10_000n, 3334n],
  ] as const)('rises with the estimate after a rise %s', (_, estimate, feeRate, now, asked) => {
    expect(decidePrice({ heldUntil: held, estimate, feeRate }, late, now)).toEqual({
      kind: 'repriced',
      feeRate: asked,
    });
  });

  test('is not raised again for a customer who pays the new one, and is never above the estimate', () => {
    const rate = fc.bigInt({ min: 100n, max: 10_000_000n });
    fc.assert(
      fc.property(rate, rate, rate, (estimate, feeRate, now) => {
        const decision = decidePrice({ heldUntil: held, estimate, feeRate }, late, now);
        const isDue = feeRate < now && now * 2n > estimate * 3n;
        expect(decision.kind).toBe(isDue ? 'repriced' : 'kept');
        if (decision.kind === 'kept') return;
        expect(decision.feeRate).toBeGreaterThan(feeRate);
        expect(decision.feeRate).toBeLessThanOrEqual(now);
        const next = { heldUntil: held, estimate: now, feeRate: decision.feeRate };
        expect(decidePrice(next, late, now).kind).toBe('kept');
      }),
      { numRuns: propertyRuns(2000) },
    );
  });

  test.each([
    ['one reveal', wantedOrder(['a', 'b'.repeat(3000)])],
    ['a reveal a file', wantedOrder(['a', 'b', 'c'], { uncurse: true })],
    [
      'reveals that hold 390,000 weight units',
      wantedOrder(['a', 'b', 'c'].map((text) => text.repeat(200_000))),
    ],
    ['a burn', wantedOrder(['a'], { burn: true })],
    ['a low rate', wantedOrder(['a'], { feeRate: 100n })],
  ])('at another rate differs only by the fees of its transactions: %s', (_, { terms, quote }) => {
    fc.assert(
      fc.property(fc.bigInt({ min: 100n, max: 10_000_000n }), (feeRate) => {
        const again = quoteAtRate(terms, quote, feeRate);
        if (again === null) {
          // the rise is at most one sat
          expect(feeRate).toBeLessThanOrEqual(terms.feeRate + 10n);
          return;
        }
        expect(again.amount - again.chainFee).toBe(quote.amount - quote.chainFee);
        expect({ ...again, amount: 0, chainFee: 0 }).toEqual({ ...quote, amount: 0, chainFee: 0 });
        const rise = (Number(feeRate) / Number(terms.feeRate)) * quote.chainFee;
        // the fee of each transaction is rounded up
        expect(Math.abs(again.chainFee - rise)).toBeLessThanOrEqual(
          (Number(feeRate) / Number(terms.feeRate)) * 10,
        );
      }),
      { numRuns: propertyRuns(200) },
    );
    expect(quoteAtRate(terms, quote, terms.feeRate)).toBeNull();
  });
});

describe('an order is complete', () => {
  const payment = fc.record({
    value: fc.integer({ min: 0, max: 10 }),
    firstSeen: fc.integer({ min: 0, max: 20 }).map((at) => new Date(at)),
  });

  test('with the payment that makes it enough, or with its last parent', () => {
    const parents = fc.option(
      fc.integer({ min: 0, max: 20 }).map((at) => new Date(at)),
      { nil: null },
    );
    fc.assert(
      fc.property(fc.array(payment, { maxLength: 8 }), parents, (payments, parentsAt) => {
        const isEnough = (given: readonly { value: number }[]): boolean =>
          given.reduce((sum, { value }) => sum + value, 0) >= 12;
        const at = completedAt({ payments, isEnough, parentsAt });
        const until = (time: number) => payments.filter(({ firstSeen }) => firstSeen.getTime() <= time);
        const times = Array.from({ length: 21 }, (_, time) => time).filter(
          (time) => isEnough(until(time)) && (parentsAt === null || parentsAt.getTime() <= time),
        );
        expect(at?.getTime()).toBe(times[0]);
      }),
      { numRuns: propertyRuns(1000) },
    );
  });
});
