import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  balancesOf,
  correctionsTo,
  entriesOf,
  type LedgerEntry,
  ledgerAccounts,
  type Receipt,
  type Settlement,
} from '#orders/ledger.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const txid = fc.constantFrom('aa', 'bb', 'cc', 'dd');
const sats = fc.bigInt({ min: 0n, max: 1_000_000n });
const receipts: fc.Arbitrary<Receipt[]> = fc.uniqueArray(
  fc.record({ txid, vout: fc.nat({ max: 2 }), value: sats }),
  { selector: ({ txid: id, vout }) => `${id}:${vout}`, maxLength: 6 },
);
const settlements: fc.Arbitrary<Settlement[]> = fc.uniqueArray(
  fc.record({
    txid,
    from: fc.constantFrom('owed' as const, 'refund' as const),
    parts: fc.array(fc.record({ to: fc.constantFrom(...ledgerAccounts), sats }), { maxLength: 5 }),
  }),
  { selector: ({ txid: id }) => id, maxLength: 3 },
);
const facts = fc.tuple(receipts, settlements);
const nonZero = (entries: readonly LedgerEntry[]) =>
  [...balancesOf(entries)].filter(([, balance]) => balance !== 0n).toSorted(([a], [b]) => a.localeCompare(b));

describe('the ledger', () => {
  test('comes to what the facts ask for, whatever was posted before, by added entries alone', () => {
    fc.assert(
      fc.property(fc.array(facts, { minLength: 1, maxLength: 6 }), (history) => {
        const posted: LedgerEntry[] = [];
        for (const [received, settled] of history) {
          const wanted = entriesOf(received, settled);
          posted.push(...correctionsTo(wanted, posted));
          expect(nonZero(posted)).toEqual(nonZero(wanted));
          expect(correctionsTo(wanted, posted)).toEqual([]);
        }
        expect(posted.every(({ sats: amount }) => amount > 0n)).toBe(true);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('has no sats from nowhere: all balances come to zero', () => {
    fc.assert(
      fc.property(facts, ([received, settled]) => {
        const balances = [...balancesOf(entriesOf(received, settled)).values()];
        expect(balances.reduce((total, balance) => total + balance, 0n)).toBe(0n);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('takes back what a reorganisation took, with the entry the other way round', () => {
    const entry: LedgerEntry = { from: 'outside', to: 'owed', sats: 5000n, txid: 'aa', vout: 1 };
    expect(correctionsTo([], [entry])).toEqual([{ ...entry, from: 'owed', to: 'outside' }]);
    expect(correctionsTo([{ ...entry, sats: 7000n }], [entry])).toEqual([{ ...entry, sats: 2000n }]);
  });
});
