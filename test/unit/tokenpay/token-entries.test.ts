import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { holdingsOf, satsAsset } from '#purse/ledger/ledger.ts';
import type { Credit } from '#tokenpay/crediting/credit.ts';
import { tokenEntries } from '#tokenpay/crediting/token-entries.ts';
import { tokenOrderStates } from '#tokenpay/order/charge-state.ts';
import { chargeKinds } from '#tokenpay/order/token-order.ts';

const credits = fc
  .array(
    fc.record({
      charge: fc.constantFrom(...chargeKinds),
      height: fc.integer({ min: 1, max: 3 }),
      sats: fc.bigInt(0n, 20_000n),
      runes: fc.uniqueArray(
        fc.record({ asset: fc.integer({ min: 1, max: 3 }), amount: fc.bigInt(1n, 2n ** 127n) }),
        {
          selector: ({ asset }) => asset,
        },
      ),
      aside: fc.option(fc.constant('inscribed' as const)),
    }),
    { maxLength: 6 },
  )
  .map((list) =>
    list.map(
      ({ height, ...credit }, place): Credit => ({
        ...credit,
        txid: trustedTxid(Buffer.alloc(32, place + 1)),
        vout: place,
        block: { height: asHeight(height), hash: Buffer.alloc(32) as never },
        firstSeen: new Date(0),
      }),
    ),
  );

describe('the entries of an order', () => {
  test('are all incoming money, and the base fee is revenue once it is completed', () => {
    fc.assert(
      fc.property(
        credits,
        fc.bigInt(0n, 30_000n),
        fc.constantFrom(...tokenOrderStates),
        (given, baseFee, state) => {
          const held = holdingsOf(tokenEntries({ account: 'shop', baseFee, state }, given));
          const of = (account: string, asset: number): bigint =>
            held.find((one) => one.account === account && one.asset === asset)?.amount ?? 0n;
          const money = given.filter(({ aside }) => aside === null);
          const sats = money.reduce((sum, credit) => sum + credit.sats, 0n);
          const fee = money
            .filter(({ charge }) => charge === 'fee')
            .reduce((sum, credit) => sum + credit.sats, 0n);
          const taken = fee < baseFee ? fee : baseFee;
          expect(of('outside', satsAsset)).toBe(-sats);
          expect(of('service', satsAsset)).toBe(state === 'completed' ? taken : 0n);
          expect(of('owed', satsAsset)).toBe(state === 'pending' ? taken : 0n);
          expect(of('token', satsAsset)).toBe(state === 'error' ? sats : sats - taken);
          for (const asset of [1, 2, 3]) {
            const units = money.flatMap(({ runes }) => runes).filter((rune) => rune.asset === asset);
            expect(of('token', asset)).toBe(units.reduce((sum, { amount }) => sum + amount, 0n));
          }
        },
      ),
    );
  });
});
