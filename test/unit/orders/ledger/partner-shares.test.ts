import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type PartnerShare, withShares } from '#orders/ledger/partner-shares.ts';
import {
  balancesOf,
  correctionsTo,
  entriesOf,
  type LedgerEntry,
  type ledgerAccounts,
  type Receipt,
  type Settlement,
  satsAsset,
} from '#purse/ledger/ledger.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const txid = fc.constantFrom('aa', 'bb', 'cc', 'dd');
const nonZero = (entries: readonly LedgerEntry[]) =>
  [...balancesOf(entries)].filter(([, balance]) => balance !== 0n).toSorted(([a], [b]) => a.localeCompare(b));
/** A ledger entry in sats that goes to the referral. */
const toFriend = (entry: Pick<LedgerEntry, 'from' | 'amount'>): LedgerEntry => ({
  ...entry,
  fromOwner: null,
  to: 'referral',
  toOwner: 'friend',
  asset: satsAsset,
  txid: 'aa',
  vout: null,
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

const friend = (share: Pick<PartnerShare, 'additional' | 'commission'>): PartnerShare => ({
  account: 'referral',
  owner: 'friend',
  ...share,
});

describe('the share of a referral', () => {
  /** The receipts of a delivered order that has these settlements, in sats. */
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

  test('is the due amount, taken from our part, and overdraws nothing', () => {
    fc.assert(
      fc.property(deliveries, shareSats, shareSats, (delivered, additional, commission) => {
        const without = after(delivered, delivered);
        const balances = after(delivered, withShares(delivered, [friend({ additional, commission })]));
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

  test('is taken back with the delivery, entry by entry, whatever happened in between', () => {
    fc.assert(
      fc.property(
        fc.array(fc.tuple(deliveries, shareSats, shareSats), { minLength: 1, maxLength: 4 }),
        (history) => {
          const posted: LedgerEntry[] = [];
          for (const [delivered, additional, commission] of history) {
            const wanted = entriesOf(
              receiptsOf(delivered),
              withShares(delivered, [friend({ additional, commission })]),
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

  test('is two entries: the customer’s addition was never revenue, the commission was', () => {
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
    const moved = entriesOf([], withShares(delivered, [friend({ additional: 500n, commission: 300n })]));
    expect(moved.filter(({ to }) => to === 'referral')).toEqual([
      toFriend({ from: 'owed', amount: 500n }),
      toFriend({ from: 'service', amount: 300n }),
    ]);
    expect(balancesOf(moved).get('service')).toBe(1700n);
  });

  test('is nothing if nothing was delivered, or no referral was named', () => {
    expect(withShares([], [friend({ additional: 500n, commission: 300n })])).toEqual([]);
    const delivered: Settlement[] = [{ txid: 'aa', from: 'owed', parts: [{ to: 'service', sats: 9n }] }];
    expect(withShares(delivered, [friend({ additional: 0n, commission: 0n })])).toEqual(delivered);
  });
});

test('a creator and a referral both get their shares, and the rest is revenue', () => {
  const delivered: readonly Settlement[] = [
    { txid: 'reveal', from: 'owed', parts: [{ to: 'service', sats: 1000n }] },
  ];
  const creator = { account: 'creator', owner: 'bc1q', additional: 600n, commission: 0n } as const;
  const totals = new Map<string, bigint>();
  for (const { from, parts } of withShares(delivered, [
    creator,
    friend({ additional: 100n, commission: 50n }),
  ]))
    for (const { to, sats } of parts) {
      totals.set(to, (totals.get(to) ?? 0n) + sats);
      totals.set(from, (totals.get(from) ?? 0n) - sats);
    }
  expect(Object.fromEntries(totals)).toEqual({ owed: -1000n, creator: 600n, referral: 150n, service: 250n });
});
