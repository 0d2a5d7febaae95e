import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type RevenueFacts, revenueShares, revenueSum } from '#payouts/planning/revenue.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const to = { script: Buffer.from(`5120${'bb'.repeat(32)}`, 'hex'), address: 'an address' };
const facts = (more: Partial<RevenueFacts> = {}): RevenueFacts => ({
  service: 40_000n,
  operator: 20_000n,
  open: { service: 0n, operator: 0n },
  unsigned: 0n,
  coins: [50_000n, 20_000n],
  owed: 10_000n,
  feeRate: 1000n,
  ...more,
});
/**
 * Sats that must stay: the fee of two inputs and two outputs (212 virtual bytes) at twice the rate, and a change of 330
 * sats.
 */
const reserve = 212n * 2n + 330n;

test('revenue is the smaller of the rests of coins and ledger, less a reserve', () => {
  expect(revenueSum(facts())).toEqual({
    earned: 60_000n,
    free: 70_000n,
    owed: 10_000n,
    open: 0n,
    unsigned: 0n,
    reserve,
    takeable: 60_000n - reserve,
  });
  expect(revenueSum(facts({ owed: 30_000n })).takeable).toBe(40_000n - reserve);
  expect(revenueSum(facts({ unsigned: 15_000n })).takeable).toBe(45_000n - reserve);
  const open = { service: 5000n, operator: 1000n };
  expect(revenueSum(facts({ open })).takeable).toBe(54_000n - reserve);
  expect(revenueSum(facts({ owed: 80_000n })).takeable).toBe(0n);
  // a coin whose input costs more than its value is not counted
  expect(revenueSum(facts({ coins: [100n] })).free).toBe(0n);
});

test('revenue comes from the service, and the rest from the operator', () => {
  const open = { service: 0n, operator: 0n };
  const shares = (sats: bigint, service: bigint) =>
    revenueShares(sats, { service, open }, to).map((share) => [share.account, Number(share.sats)]);
  expect(shares(1000n, 2000n)).toEqual([['service', 1000]]);
  expect(shares(1000n, 300n)).toEqual([
    ['service', 300],
    ['operator', 700],
  ]);
  expect(shares(1000n, -5n)).toEqual([['operator', 1000]]);
});

const sats = (most: bigint) => fc.bigInt(0n, most);

test('revenue taken with any fee up to twice the present one leaves the debt covered', () => {
  fc.assert(
    fc.property(
      fc.array(sats(50_000n), { maxLength: 10 }),
      fc.bigInt(-5000n, 200_000n),
      fc.bigInt(-5000n, 50_000n),
      sats(100_000n),
      sats(20_000n),
      fc.bigInt(100n, 50_000n),
      (coins, service, operator, owed, unsigned, feeRate) => {
        const given = facts({ coins, service, operator, owed, unsigned, feeRate });
        const sum = revenueSum(given);
        expect(sum.takeable).toBeGreaterThanOrEqual(0n);
        if (sum.takeable === 0n) return;
        // the reserve covers the largest possible fee, and the change
        expect(sum.free - sum.takeable - (sum.reserve - 330n)).toBeGreaterThanOrEqual(owed + unsigned + 330n);
        expect(service + operator).toBeGreaterThanOrEqual(sum.takeable + sum.reserve);
        const shares = revenueShares(sum.takeable, given, to);
        expect(shares.reduce((all, share) => all + share.sats, 0n)).toBe(sum.takeable);
        for (const share of shares)
          expect(share.sats).toBeLessThanOrEqual(share.account === 'service' ? service : sum.takeable);
      },
    ),
    { numRuns: propertyRuns(500) },
  );
});
