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
  withReferral,
} from '#purse/ledger/ledger.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const txid = fc.constantFrom('aa', 'bb', 'cc', 'dd');
const sats = fc.bigInt({ min: 0n, max: 1_000_000n });
const receipts: fc.Arbitrary<Receipt[]> = fc.uniqueArray(
  fc.record({ to: fc.constantFrom('owed', 'deposit'), txid, vout: fc.nat({ max: 2 }), value: sats }),
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

const shareSats = fc.oneof(fc.bigInt({ min: 0n, max: 1_000_000n }), fc.constantFrom(0n, 1n, 300n));
const deliveries: fc.Arbitrary<Settlement[]> = fc.uniqueArray(
  fc.record({
    txid,
    from: fc.constant('owed' as const),
    parts: fc.array(
      fc.record({
        to: fc.constantFrom('postage', 'service', 'operator', 'fee', 'owed', 'service'),
        sats: shareSats,
      }),
      { maxLength: 6 },
    ),
  }),
  { selector: ({ txid: id }) => id, maxLength: 3 },
);

describe('the share of a referral', () => {
  /** What an order received that was delivered so. */
  const receiptsOf = (delivered: readonly Settlement[]): Receipt[] => [
    {
      to: 'owed',
      txid: 'ee',
      vout: 0,
      value: delivered.flatMap(({ parts }) => parts).reduce((sum, { sats: value }) => sum + value, 0n),
    },
  ];
  const after = (delivered: readonly Settlement[], entries: readonly Settlement[]) =>
    balancesOf(entriesOf(receiptsOf(delivered), entries));

  test('is what is due, out of what is ours, and overdraws nothing', () => {
    fc.assert(
      fc.property(deliveries, shareSats, shareSats, (delivered, additional, commission) => {
        const without = after(delivered, delivered);
        const balances = after(delivered, withReferral(delivered, { additional, commission }));
        const of = (account: (typeof ledgerAccounts)[number], from = balances): bigint =>
          from.get(account) ?? 0n;
        const ours = of('service', without) + of('operator', without);
        const due = additional + commission;
        expect(of('referral')).toBe(due < ours ? due : ours);
        expect(of('service') + of('operator') + of('referral')).toBe(ours);
        for (const account of ['outside', 'owed', 'postage', 'fee'] as const)
          expect(of(account)).toBe(of(account, without));
        for (const [account, balance] of balances)
          if (account !== 'outside') expect([account, balance >= 0n]).toEqual([account, true]);
        expect([...balances.values()].reduce((sum, balance) => sum + balance, 0n)).toBe(0n);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('is taken back with the delivery, entry by entry, whatever came between', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(deliveries, shareSats, shareSats), { minLength: 1, maxLength: 4 }),
        (history) => {
          const posted: LedgerEntry[] = [];
          for (const [delivered, additional, commission] of history) {
            const wanted = entriesOf(
              receiptsOf(delivered),
              withReferral(delivered, { additional, commission }),
            );
            posted.push(...correctionsTo(wanted, posted));
            expect(nonZero(posted)).toEqual(nonZero(wanted));
          }
          posted.push(...correctionsTo([], posted));
          expect(nonZero(posted)).toEqual([]);
        },
      ),
      { numRuns: propertyRuns(200) },
    );
  });

  test('is two entries: what the customer added was never revenue, the commission was', () => {
    const delivered: Settlement[] = [
      {
        txid: 'aa',
        from: 'owed',
        parts: [
          { to: 'postage', sats: 546n },
          { to: 'service', sats: 2500n },
          { to: 'fee', sats: 400n },
        ],
      },
    ];
    const moved = entriesOf([], withReferral(delivered, { additional: 500n, commission: 300n }));
    expect(moved.filter(({ to }) => to === 'referral')).toEqual([
      { from: 'owed', to: 'referral', sats: 500n, txid: 'aa', vout: null },
      { from: 'service', to: 'referral', sats: 300n, txid: 'aa', vout: null },
    ]);
    expect(balancesOf(moved).get('service')).toBe(1700n);
  });

  test('is nothing where nothing was delivered or named', () => {
    expect(withReferral([], { additional: 500n, commission: 300n })).toEqual([]);
    const delivered: Settlement[] = [{ txid: 'aa', from: 'owed', parts: [{ to: 'service', sats: 9n }] }];
    expect(withReferral(delivered, { additional: 0n, commission: 0n })).toEqual(delivered);
  });
});
