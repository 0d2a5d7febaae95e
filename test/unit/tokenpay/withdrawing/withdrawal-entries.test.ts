import fc from 'fast-check';
import { expect, test } from 'vitest';
import { holdingsOf, satsAsset } from '#purse/ledger/ledger.ts';
import { propertyRuns } from '#test/support/property-runs.ts';
import { receivedSats, receivedUnits, reservedOf } from '#tokenpay/withdrawing/withdrawal.ts';
import { withdrawalEntries } from '#tokenpay/withdrawing/withdrawal-entries.ts';

const sats = fc.bigInt({ min: 0n, max: 100_000n });
const withdrawal = fc
  .record({
    account: fc.constantFrom('alice', 'bob'),
    asset: fc.constantFrom(satsAsset, 7, 8),
    amount: fc.bigInt({ min: 200_000n, max: 2n ** 100n }),
    fee: sats,
    dust: fc.bigInt({ min: 294n, max: 546n }),
    payer: fc.constantFrom('balance' as const, 'withdrawal' as const, 'operator' as const),
  })
  .map(({ dust, payer, ...each }) => ({
    ...each,
    postage: each.asset === satsAsset ? 0n : dust,
    payer: payer === 'withdrawal' && each.asset !== satsAsset ? ('balance' as const) : payer,
  }));
const txid = 'ab'.repeat(32);

test('entries of a batch take the reserved units from each account, and give receivers the rest', () => {
  fc.assert(
    fc.property(fc.array(withdrawal, { minLength: 1, maxLength: 8 }), sats, (batch, fee) => {
      const held = holdingsOf(withdrawalEntries([{ txid, fee, paid: batch }]));
      const of = (account: string, owner: string | null, asset: number): bigint =>
        held.find((each) => each.account === account && each.owner === owner && each.asset === asset)
          ?.amount ?? 0n;
      const sum = (amounts: readonly bigint[]): bigint => amounts.reduce((all, amount) => all + amount, 0n);
      for (const asset of [satsAsset, 7, 8]) {
        for (const account of ['alice', 'bob']) {
          const reserved = batch
            .filter((each) => each.account === account)
            .flatMap(reservedOf)
            .filter((each) => each.asset === asset);
          expect(-of('token', account, asset)).toBe(sum(reserved.map(({ units }) => units)));
        }
        const received = batch.map((each) => {
          if (asset === satsAsset) return receivedSats(each);
          return each.asset === asset ? receivedUnits(each) : 0n;
        });
        expect(of('outside', null, asset)).toBe(sum(received));
      }
      expect(of('fee', null, satsAsset)).toBe(fee);
      // transactions that are in no block move nothing
      expect(withdrawalEntries([])).toEqual([]);
    }),
    { numRuns: propertyRuns(100) },
  );
});
