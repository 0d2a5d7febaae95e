import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  balancesOf,
  correctionsTo,
  entriesOf,
  holdingsOf,
  type LedgerEntry,
  ledgerAccounts,
  postingOf,
  type Receipt,
  type Settlement,
  satsAsset,
} from '#purse/ledger/ledger.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const txid = fc.constantFrom('aa', 'bb', 'cc', 'dd');
const sats = fc.bigInt({ min: 0n, max: 1_000_000n });
const receipts: fc.Arbitrary<Receipt[]> = fc.uniqueArray(
  fc.record({ to: fc.constantFrom('owed', 'deposit'), txid, vout: fc.nat({ max: 2 }), value: sats }),
  { selector: ({ txid: id, vout }) => `${id}:${vout}`, maxLength: 6 },
);
const ownedAccounts = ['referral', 'creator', 'token'] as const;
const sharedAccounts = ledgerAccounts.filter((account) => ownedAccounts.every((owned) => owned !== account));
const owners = fc.constantFrom('one', 'two');
const part = (amounts: fc.Arbitrary<bigint>) =>
  fc.oneof(
    fc.record({ to: fc.constantFrom(...sharedAccounts), sats: amounts }),
    fc.record({ to: fc.constantFrom(...ownedAccounts), owner: owners, sats: amounts }),
  ) as fc.Arbitrary<Settlement['parts'][number]>;
const settlements: fc.Arbitrary<Settlement[]> = fc.uniqueArray(
  fc.record({
    txid,
    from: fc.constantFrom('owed' as const, 'refund' as const),
    parts: fc.array(part(sats), { maxLength: 5 }),
  }),
  { selector: ({ txid: id }) => id, maxLength: 3 },
);
const facts = fc.tuple(receipts, settlements);
const nonZero = (entries: readonly LedgerEntry[]) =>
  [...balancesOf(entries)].filter(([, balance]) => balance !== 0n).toSorted(([a], [b]) => a.localeCompare(b));

/** Assets of an order: sats, and a rune whose amounts go up to 2^128 - 1. */
const assets = [satsAsset, 7];
const side = fc.oneof(
  fc.tuple(fc.constantFrom(...sharedAccounts), fc.constant(null)),
  fc.tuple(fc.constantFrom(...ownedAccounts), owners),
);
const wantedLists: fc.Arbitrary<LedgerEntry[]> = fc
  .array(
    fc.record({
      from: fc.oneof(fc.constant(['outside', null] as const), side),
      to: side,
      asset: fc.constantFrom(...assets),
      amount: fc.oneof(fc.bigInt({ min: 1n, max: 20n }), fc.constant(2n ** 128n - 1n)),
      txid,
      vout: fc.constantFrom(null, 0, 1),
    }),
    { maxLength: 8 },
  )
  .map((all) =>
    all
      .filter(({ from, to }) => from.join() !== to.join())
      .map(({ from: [from, fromOwner], to: [to, toOwner], ...entry }) => ({
        ...entry,
        from,
        fromOwner,
        to,
        toOwner,
      })),
  );
const held = (entries: readonly LedgerEntry[]): string[] =>
  holdingsOf(entries)
    .filter(({ amount }) => amount !== 0n)
    .map(({ account, owner, asset, amount }) => `${account} ${owner} ${asset} ${amount}`)
    .toSorted();
const overdrawnIn = (entries: readonly LedgerEntry[]): boolean =>
  holdingsOf(entries).some(
    ({ account, amount }) => amount < 0n && !['outside', 'operator', 'inventory'].includes(account),
  );

describe('the ledger', () => {
  test('ends with the entries of the facts, whatever was posted before, only by added entries', () => {
    fc.assert(
      fc.property(fc.array(facts, { minLength: 1, maxLength: 6 }), (history) => {
        const posted: LedgerEntry[] = [];
        for (const [received, settled] of history) {
          const wanted = entriesOf(received, settled);
          posted.push(...correctionsTo(wanted, posted));
          expect(nonZero(posted)).toEqual(nonZero(wanted));
          expect(correctionsTo(wanted, posted)).toEqual([]);
        }
        expect(posted.every(({ amount }) => amount > 0n)).toBe(true);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('has no sats from nowhere: the sum of all balances is zero', () => {
    fc.assert(
      fc.property(facts, ([received, settled]) => {
        const balances = [...balancesOf(entriesOf(received, settled)).values()];
        expect(balances.reduce((total, balance) => total + balance, 0n)).toBe(0n);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('takes back what a reorganisation took, by the reversed entry', () => {
    const entry = inSats({ from: 'outside', to: 'owed', amount: 5000n, txid: 'aa', vout: 1 });
    expect(correctionsTo([], [entry])).toEqual([{ ...entry, from: 'owed', to: 'outside' }]);
    expect(correctionsTo([{ ...entry, amount: 7000n }], [entry])).toEqual([{ ...entry, amount: 2000n }]);
  });

  test('is the same for any order of events, for each asset and owner, and overdraws no account', () => {
    fc.assert(
      fc.property(fc.array(wantedLists, { minLength: 1, maxLength: 8 }), (history) => {
        const posted: LedgerEntry[] = [];
        for (const wanted of [...history, ...history.slice(-1)]) {
          const added = postingOf(wanted, posted);
          const isAllowed = !overdrawnIn(wanted);
          if (added === 'waits') expect(isAllowed).toBe(false);
          else posted.push(...added);
          // if the wanted entries would overdraw an account, nothing changes
          if (isAllowed) {
            expect(held(posted)).toEqual(held(wanted));
            expect(postingOf(wanted, posted)).toEqual([]);
          }
          expect(overdrawnIn(posted)).toBe(false);
          for (const asset of assets) {
            const moved = (side: 'from' | 'to') =>
              posted
                .filter((entry) => entry.asset === asset && entry[side] === 'outside')
                .reduce((sum, { amount }) => sum + amount, 0n);
            const inside = holdingsOf(posted)
              .filter((holding) => holding.asset === asset && holding.account !== 'outside')
              .reduce((sum, { amount }) => sum + amount, 0n);
            expect(moved('from')).toBe(moved('to') + inside);
          }
        }
        // corrections take everything back
        expect(held([...posted, ...correctionsTo([], posted)])).toEqual([]);
      }),
      { numRuns: propertyRuns(300) },
    );
  });

  test('waits while money leaves an account that it never reached: the facts are from two moments', () => {
    const paid = inSats({ from: 'outside', to: 'owed', amount: 900n, txid: 'aa', vout: 0 });
    const delivered = inSats({ from: 'owed', to: 'service', amount: 900n, txid: 'bb', vout: null });
    // the payments have seen a reorganisation that the index has not seen yet
    expect(postingOf([delivered], [paid, delivered])).toBe('waits');
    expect(postingOf([], [paid, delivered])).toHaveLength(2);
    // the index is one block ahead of the payments
    expect(postingOf([delivered], [])).toBe('waits');
    expect(postingOf([paid, delivered], [])).toEqual([paid, delivered]);
    // the operator's money belongs to no order, so it need not arrive first
    const bumped = inSats({ from: 'operator', to: 'fee', amount: 900n, txid: 'cc', vout: null });
    expect(postingOf([bumped], [])).toEqual([bumped]);
  });
});

/** An entry in sats. Its accounts have no owners. */
function inSats(entry: Pick<LedgerEntry, 'from' | 'to' | 'amount' | 'txid' | 'vout'>): LedgerEntry {
  return { ...entry, fromOwner: null, toOwner: null, asset: satsAsset };
}
