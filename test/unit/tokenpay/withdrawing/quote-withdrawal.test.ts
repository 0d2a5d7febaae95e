import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { planWithdrawals } from '#tokenpay/withdrawing/planning/plan-withdrawals.ts';
import { quoteWithdrawal } from '#tokenpay/withdrawing/planning/quote-withdrawal.ts';
import type { QuoteRequest, WithdrawalPrice } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import {
  batches,
  batchOf,
  type CoinParts,
  changeScript,
  coinsOf,
  limits,
  receivers,
  runeId,
} from './withdrawal-wallet.ts';

interface Asked {
  readonly rune?: number;
  readonly units: number;
  readonly coins: readonly CoinParts[];
}
const requestOf = ({ rune, units, coins }: Asked, more: Partial<QuoteRequest> = {}): QuoteRequest => ({
  asked: {
    id: 'w',
    account: 'a',
    rune: rune === undefined ? null : runeId(rune),
    units: BigInt(units),
    script: receivers.p2tr,
  },
  before: [],
  coins: coinsOf(coins),
  isOwnOnly: false,
  feePayer: 'account',
  balance: 10_000n,
  debtMax: 0n,
  feeRate: 1000n,
  change: changeScript,
  limits,
  ...more,
});

/** The usual coins of an account: an output of a shop order with runes, and the sats of the order's fee. */
const usual: readonly CoinParts[] = [
  { owner: 'a', value: 546, runes: [[0, 100]] },
  { owner: 'a', value: 9454, isFee: true },
];

describe('the price of a withdrawal', () => {
  test('is the cost of its own transaction, and each sat of it has a payer', () => {
    let prices = 0;
    fc.assert(
      fc.property(
        batches,
        fc.bigInt({ min: -2000n, max: 100_000_000n }),
        fc.bigInt({ min: 0n, max: 5000n }),
        fc.constantFrom('account' as const, 'operator' as const),
        (batch, balance, debtMax, feePayer) => {
          const [asked] = batch.withdrawals;
          const coins = batch.coins.filter(({ owner }) => owner === null || owner === asked!.account);
          const quote = quoteWithdrawal({
            ...batch,
            asked: asked!,
            before: [],
            isOwnOnly: false,
            balance,
            debtMax,
            feePayer,
          });
          if (quote.kind === 'refused') return;
          prices++;
          const isRune = asked!.rune !== null;
          const { sats, fee, postage, payer, fromBalance, fromOperator, debt, inputs } = quote;
          expect(fromBalance + fromOperator).toBe(sats + fee);
          expect(sats).toBeGreaterThanOrEqual(BigInt(dustOf(asked!.script)));
          expect(postage).toBe(isRune ? sats : 0n);
          if (!isRune) expect(payer === 'withdrawal' ? sats + fee : sats).toBe(asked!.units);
          expect(fromOperator > 0n).toBe(payer === 'operator');
          expect(inputs).toBeLessThanOrEqual(batch.limits.inputsMax);
          // only withdrawals of runes may cause a debt; a debt above the maximum was refused
          expect(debt).toBeLessThanOrEqual(balance < 0n ? fromBalance : isRune ? debtMax : 0n);
          if (payer === 'balance' && isRune) expect(balance - fromBalance).toBeGreaterThanOrEqual(-debtMax);
          const { plan } = planWithdrawals({ ...batch, coins, withdrawals: [{ ...asked!, sats }] });
          // if coins are missing now, the price includes a coin that comes later
          if (plan !== null) expect(plan.fee - plan.overpaid).toBe(fee);
        },
      ),
      { numRuns: propertyRuns(200) },
    );
    expect(prices).toBeGreaterThan(4);
  });

  test('leaves the address no sats that nodes do not relay', () => {
    const coins: readonly CoinParts[] = [
      { owner: 'a', value: 294 },
      { owner: 'a', value: 294 },
      { owner: 'a', value: 955, runes: [[0, 1]] },
    ];
    // a plan that pays the sats which the address would get costs more than a plan that pays the minimum
    const quote = quoteWithdrawal(requestOf({ units: 1543, coins }, { balance: 1543n, feeRate: 3279n }));
    expect(quote).toEqual({ kind: 'refused', code: 'dust', sats: 329n, least: 330n });
  });

  test('of runes is the fee and the postage, from the balance of sats', () => {
    expect(quoteWithdrawal(requestOf({ rune: 0, units: 40, coins: usual }))).toEqual({
      kind: 'price',
      sats: 330n,
      fee: 286n,
      postage: 330n,
      payer: 'balance',
      fromBalance: 616n,
      fromOperator: 0n,
      debt: 0n,
      inputs: 2,
      virtualBytes: 286,
    });
  });

  test('of runes is a debt if the balance lacks it, up to the largest', () => {
    const asked = { rune: 0, units: 40, coins: usual };
    const quote = quoteWithdrawal(requestOf(asked, { balance: 500n, debtMax: 116n }));
    expect(quote).toMatchObject({ kind: 'price', fromBalance: 616n, debt: 116n });
    expect(quoteWithdrawal(requestOf(asked, { balance: 500n, debtMax: 115n }))).toEqual({
      kind: 'refused',
      code: 'sats',
      missing: 1n,
    });
    // an existing debt is added to the new one
    expect(quoteWithdrawal(requestOf(asked, { balance: -100n, debtMax: 715n }))).toMatchObject({
      missing: 1n,
    });
    const free = quoteWithdrawal(requestOf(asked, { balance: -100n, feePayer: 'operator' }));
    expect(free).toMatchObject({ payer: 'operator', fromBalance: 0n, fromOperator: 616n, debt: 0n });
  });

  test('of sats comes from the rest of the balance, or else from the withdrawal', () => {
    const coins: CoinParts[] = [{ owner: 'a', value: 10_000 }];
    expect(quoteWithdrawal(requestOf({ units: 5000, coins }))).toMatchObject({
      payer: 'balance',
      sats: 5000n,
      fromBalance: 5154n,
    });
    expect(quoteWithdrawal(requestOf({ units: 10_000, coins }))).toMatchObject({
      payer: 'withdrawal',
      fee: 111n,
      sats: 9889n,
      fromBalance: 10_000n,
    });
    expect(quoteWithdrawal(requestOf({ units: 10_001, coins }))).toEqual({
      kind: 'refused',
      code: 'sats',
      missing: 1n,
    });
    expect(quoteWithdrawal(requestOf({ units: 10_000, coins }, { feePayer: 'operator' }))).toMatchObject({
      payer: 'operator',
      sats: 10_000n,
      fromBalance: 10_000n,
    });
    expect(quoteWithdrawal(requestOf({ units: 400, coins }, { balance: 400n }))).toMatchObject({
      kind: 'refused',
      code: 'dust',
      least: 330n,
    });
  });

  test('includes the coins that dust takes: an account pays for its own', () => {
    const dust = Array.from({ length: 10 }, (): CoinParts => ({ owner: 'a', value: 330, runes: [[0, 1]] }));
    const coins: CoinParts[] = [...dust, { value: 50_000, runes: [[0, 1000]] }];
    const price = quoteWithdrawal(requestOf({ rune: 0, units: 10, coins })) as WithdrawalPrice;
    expect(price.inputs).toBe(10);
    // sats in dust only pay for the transaction that spends the dust, so the account must pay the full price
    const high = { feeRate: 10_000n, balance: 3300n };
    expect(quoteWithdrawal(requestOf({ rune: 0, units: 1, coins }, high))).toMatchObject({ code: 'sats' });
    expect(quoteWithdrawal(requestOf({ units: 3300, coins }, high))).toMatchObject({ code: 'dust' });
  });

  test('is paid by its account if its own dust costs more than it brings, even if the service pays', () => {
    const dust = Array.from({ length: 10 }, (): CoinParts => ({ owner: 'a', value: 330, runes: [[0, 1]] }));
    const coins: CoinParts[] = [...dust, { value: 500_000, runes: [[0, 1000]] }];
    const at = (feeRate: bigint) =>
      requestOf({ rune: 0, units: 10, coins }, { feePayer: 'operator', feeRate, balance: 90_000n });
    expect(quoteWithdrawal(at(1000n))).toMatchObject({ payer: 'operator', fromBalance: 0n });
    const dear = quoteWithdrawal(at(10_000n)) as WithdrawalPrice;
    expect(dear).toMatchObject({ payer: 'balance', fromOperator: 0n, fromBalance: dear.fee + 330n });
    expect(quoteWithdrawal({ ...at(10_000n), balance: 0n })).toMatchObject({ kind: 'refused', code: 'sats' });
    // the service may spend a coin whose value is more than the cost of its input
    const rich = { ...at(10_000n), coins: coinsOf([{ owner: 'a', value: 90_000, runes: [[0, 10]] }]) };
    expect(quoteWithdrawal(rich)).toMatchObject({ payer: 'operator' });
  });

  test('does not count a coin that an earlier withdrawal takes', () => {
    const coins: CoinParts[] = [
      { owner: 'a', value: 5000, runes: [[0, 100]] },
      ...Array.from({ length: 10 }, (): CoinParts => ({ owner: 'a', value: 5000, runes: [[0, 10]] })),
    ];
    const request = requestOf({ rune: 0, units: 100, coins });
    const [first] = [quoteWithdrawal(request) as WithdrawalPrice];
    expect(first?.inputs).toBe(1);
    const before = [{ ...request.asked, id: 'earlier', sats: 330n }];
    expect(quoteWithdrawal({ ...request, before })).toMatchObject({ kind: 'price', inputs: 10 });
    const both = planWithdrawals(batchOf([...before, { ...request.asked, sats: 330n }], request.coins));
    expect(both.plan?.inputs).toHaveLength(11);
  });

  test('counts one more coin if a change has no block yet', () => {
    const coins: CoinParts[] = [{ owner: 'a', value: 546, runes: [[0, 100]] }];
    expect(quoteWithdrawal(requestOf({ rune: 0, units: 150, coins }))).toMatchObject({
      kind: 'price',
      inputs: 2,
    });
    expect(quoteWithdrawal(requestOf({ units: 10_000, coins: [] }))).toMatchObject({
      kind: 'price',
      inputs: 1,
    });
  });

  test('at a low rate counts only coins of the account', () => {
    const slow = { isOwnOnly: true, feeRate: 100n };
    const coins: CoinParts[] = [{ value: 90_000 }, { owner: 'a', value: 9000 }];
    expect(quoteWithdrawal(requestOf({ units: 8000, coins }, slow))).toMatchObject({ kind: 'price' });
    expect(quoteWithdrawal(requestOf({ units: 9500, coins }, slow))).toEqual({
      kind: 'refused',
      code: 'own',
    });
    expect(quoteWithdrawal(requestOf({ units: 9500, coins }))).toMatchObject({ kind: 'price' });
  });

  test('bears the largest amounts of a rune', () => {
    const coins: CoinParts[] = [
      { owner: 'a', value: 9000, runes: [[0, 2n ** 127n]] },
      { runes: [[0, 2n ** 127n - 1n]] },
    ];
    const { asked, ...rest } = requestOf({ rune: 0, units: 1, coins });
    const all = { ...rest, asked: { ...asked, units: 2n ** 128n - 1n } };
    expect(quoteWithdrawal(all)).toMatchObject({ kind: 'price' });
    expect(quoteWithdrawal({ ...all, coins: all.coins.slice(0, 1) })).toMatchObject({ kind: 'price' });
    expect(quoteWithdrawal({ ...all, asked: { ...asked, units: 2n ** 128n } })).toMatchObject({
      code: 'amount',
    });
  });

  test('is part of a withdrawal of everything in the maximum number of outputs', () => {
    const { inputsMax } = limits;
    const coins = Array.from({ length: inputsMax + 1 }, () => ({ owner: 'a', value: 2_000 }));
    const units = 2_000 * inputsMax;
    const request = requestOf({ units, coins }, { balance: BigInt(units) });
    expect(quoteWithdrawal(request)).toMatchObject({ kind: 'price', payer: 'withdrawal', inputs: inputsMax });
    const more = requestOf({ units: units + 1, coins }, { balance: BigInt(units + 1) });
    expect(quoteWithdrawal(more)).toMatchObject({ kind: 'refused', code: 'inputs', most: BigInt(units) });
  });
});
