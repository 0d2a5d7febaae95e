import { expect, test } from 'vitest';
import { defaultClusterLimits } from '#orders/sending/node-standing.ts';
import type { MadeBatch } from '#payouts/following/payout-parts.ts';
import type { WithdrawalCoin, WithdrawalPlan } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { feeRatesOf } from '#withdrawals/asking-parts.ts';
import { isWithinPrices } from '#withdrawals/make-batch.ts';
import { spendableCoins } from '#withdrawals/plan-batch.ts';
import { underpriced } from '#withdrawals/underpriced.ts';

test("no price is below the node's present minimum", () => {
  const [leastFeeRate, mempoolMinFeeRate] = [100n, 7000n];
  expect(feeRatesOf({ leastFeeRate, mempoolMinFeeRate, estimate: null })).toEqual({
    least: 7000n,
    usual: 7000n,
  });
  expect(feeRatesOf({ leastFeeRate, mempoolMinFeeRate: 100n, estimate: 12_000n })).toEqual({
    least: 100n,
    usual: 12_000n,
  });
  expect(feeRatesOf({ leastFeeRate, mempoolMinFeeRate: 100n, estimate: null }).usual).toBe(1000n);
});

test('a batch at a low rate spends only coins of its own accounts', () => {
  const coins = [{ owner: 'a' }, { owner: null }] as WithdrawalCoin[];
  const standing = {
    minRelayFeeRate: 100n,
    mempoolMinFeeRate: 100n,
    incrementalFeeRate: 100n,
    estimate: 5000n,
    cluster: defaultClusterLimits,
  };
  const spendableAt = (feeRate: bigint | null) =>
    spendableCoins(coins, { payout: { feeRate } as MadeBatch['payout'], standing });
  expect(spendableAt(4999n)).toEqual([{ owner: 'a' }]);
  expect(spendableAt(5000n)).toEqual(coins);
  expect(spendableAt(null)).toEqual(coins);
});

test('a first transaction costs the prices of its withdrawals, and the bound beyond them', () => {
  const withdrawals = [
    { id: 'v', fee: 1000n, payer: 'operator' },
    { id: 'w', fee: 500n, payer: 'balance' },
    { id: 'left out', fee: 9000n, payer: 'balance' },
  ] as Withdrawal[];
  const outputs = [
    { withdrawal: null },
    { withdrawal: 'v' },
    { withdrawal: 'w' },
  ] as unknown as WithdrawalPlan['outputs'];
  const isWithin = (fee: bigint, overpaid = 0n) =>
    isWithinPrices({ withdrawals, plan: { fee, overpaid, outputs } as WithdrawalPlan }, { bumpMax: 200n });
  expect([isWithin(1700n), isWithin(1701n), isWithin(1900n, 200n)]).toEqual([true, false, true]);
});

test('a withdrawal is underpriced if its price and the bound do not pay its smallest transaction', () => {
  const script = Uint8Array.from([0x51, 0x20, ...Buffer.alloc(32)]);
  const priced = [109n, 110n, 111n].map((fee) => ({
    id: String(fee),
    fee,
    script,
  })) as unknown as Withdrawal[];
  const idsAt = (feeRate: bigint, bumpMax: bigint) =>
    underpriced(priced, feeRate, { bumpMax }).map(({ id }) => id);
  // 111 virtual bytes for a P2TR input and a P2TR output
  expect(idsAt(1000n, 0n)).toEqual(['109', '110']);
  expect(idsAt(1000n, 1n)).toEqual(['109']);
  expect(idsAt(2000n, 0n)).toEqual(['109', '110', '111']);
});
