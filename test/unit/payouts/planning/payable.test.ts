import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import { recipientsOf, satsOf } from '#payouts/payout/payout.ts';
import { type PartnerBalance, partnerStandings, payoutsOf } from '#payouts/planning/payable.ts';
import { partnerAccounts } from '#purse/ledger/ledger.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const scriptOf = (place: number): Uint8Array =>
  Buffer.from(`5120${place.toString(16).padStart(64, '0')}`, 'hex');
const balance = (more: Partial<PartnerBalance> = {}): PartnerBalance => ({
  account: 'referral',
  owner: 'friend',
  address: 'an address',
  script: scriptOf(1),
  earned: 1000n,
  deep: 1000n,
  paid: 0n,
  open: 0n,
  ...more,
});
const standing = (more: Partial<PartnerBalance>, refused: ReadonlySet<string> = new Set()) => {
  const [found] = partnerStandings([balance(more)], refused);
  const { owed, payable, shallow, dust, homeless, debt } = found!;
  return [owed, payable, shallow, dust, homeless, debt].map(Number);
};

describe('the payable part of a partner', () => {
  test('is the deep part that was neither paid nor is in a payout', () => {
    expect(standing({})).toEqual([1000, 1000, 0, 0, 0, 0]);
    expect(standing({ deep: 400n })).toEqual([1000, 400, 600, 0, 0, 0]);
    expect(standing({ paid: 300n, open: 200n })).toEqual([500, 500, 0, 0, 0, 0]);
    // sats that were paid are subtracted from the deep part first
    expect(standing({ deep: 400n, paid: 300n })).toEqual([700, 0, 600, 100, 0, 0]);
  });

  test('is zero below dust, without an address, with a forbidden one, and in debt', () => {
    expect(standing({ earned: 329n, deep: 329n })).toEqual([329, 0, 0, 329, 0, 0]);
    expect(standing({ earned: 330n, deep: 330n })).toEqual([330, 330, 0, 0, 0, 0]);
    expect(standing({ address: null, script: null })).toEqual([1000, 0, 0, 0, 1000, 0]);
    const refused = new Set([Buffer.from(scriptOf(1)).toString('hex')]);
    expect(standing({}, refused)).toEqual([1000, 0, 0, 0, 1000, 0]);
    // a reorganisation took back a delivery whose share was already paid
    expect(standing({ earned: 100n, deep: 100n, paid: 400n })).toEqual([0, 0, 0, 0, 0, 300]);
  });

  test('counts together with others of the same address', () => {
    const halves = [balance({ owner: 'a', deep: 200n }), balance({ owner: 'b', deep: 200n })];
    expect(partnerStandings(halves).map(({ payable }) => payable)).toEqual([200n, 200n]);
    expect(payoutsOf(partnerStandings(halves))).toHaveLength(1);
    // codes and creators are paid by two different transactions
    const [code, creator] = [balance({ deep: 200n }), balance({ account: 'creator', deep: 200n })];
    expect(partnerStandings([code, creator]).map(({ dust }) => dust)).toEqual([200n, 200n]);
  });

  test('is split into payouts of a bounded number of addresses, codes of one address together', () => {
    const many = Array.from({ length: 7 }, (_, place) =>
      balance({ owner: `code ${place}`, script: scriptOf(place % 5) }),
    );
    const payouts = payoutsOf(partnerStandings(many), 2);
    expect(payouts.map(({ shares }) => recipientsOf(shares).length)).toEqual([2, 2, 1]);
    expect(payouts.flatMap(({ shares }) => shares)).toHaveLength(7);
  });
});

const balances = fc.array(
  fc.record({
    account: fc.constantFrom(...partnerAccounts),
    place: fc.option(fc.integer({ min: 1, max: 4 }), { nil: null }),
    earned: fc.bigInt(0n, 5000n),
    deep: fc.bigInt(0n, 5000n),
    paid: fc.bigInt(0n, 5000n),
    open: fc.bigInt(0n, 5000n),
  }),
  { maxLength: 8 },
);

test('payouts of any standing pay each partner its payable sats once, never dust, and never more than the debt', () => {
  fc.assert(
    fc.property(balances, fc.integer({ min: 1, max: 3 }), (all, most) => {
      const standings = partnerStandings(
        all.map(({ place, ...rest }, nth) =>
          balance({
            ...rest,
            owner: `partner ${nth}`,
            address: place === null ? null : `address ${place}`,
            script: place === null ? null : scriptOf(place),
          }),
        ),
      );
      for (const { owed, payable, shallow, dust, homeless, debt, earned, paid, open } of standings) {
        expect(payable + shallow + dust + homeless).toBe(owed);
        expect(owed - debt).toBe(earned - paid - open);
        expect([payable, shallow, dust, homeless, debt].every((sats) => sats >= 0n)).toBe(true);
      }
      const payouts = payoutsOf(standings, most);
      const shares = payouts.flatMap((payout) => payout.shares);
      expect(new Set(shares.map(({ owner }) => owner)).size).toBe(shares.length);
      expect(satsOf(shares)).toBe(standings.reduce((sum, { payable }) => sum + payable, 0n));
      for (const payout of payouts) {
        expect(payout.shares.every(({ account }) => account === payout.kind)).toBe(true);
        const recipients = recipientsOf(payout.shares);
        expect(recipients.length).toBeLessThanOrEqual(most);
        for (const { script, sats } of recipients)
          expect(Number(sats)).toBeGreaterThanOrEqual(dustOf(script));
      }
      // once these payouts are open, nothing more can be paid
      const paying = new Map(shares.map(({ owner, sats }) => [owner, sats]));
      const later = partnerStandings(
        standings.map((each) => ({ ...each, open: each.open + (paying.get(each.owner) ?? 0n) })),
      );
      expect(payoutsOf(later)).toEqual([]);
    }),
    { numRuns: propertyRuns(300) },
  );
});
