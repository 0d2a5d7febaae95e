import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { guardInscriptions, selectedHoldingLeast } from '#orders/following/guard-inscriptions.ts';
import { selectCoins } from '#orders/order/coin-selection.ts';
import type { OrderFacts, OrderPayment } from '#orders/order/order-facts.ts';
import type { HeldPayment, HeldPayments } from '#orders/parents/held-payments.ts';
import type { CoinPayment } from '#orders/sats/place-sats.ts';
import { plainPayment } from '#test/builders/return-facts.ts';
import { propertyRuns } from '#test/support/property-runs.ts';

const txid = trustedTxid(Buffer.alloc(32, 7));
const outpoint = (vout: number): string => `${displayHash(txid)}:${vout}`;
const costs: OrderFacts['costs'] = {
  amount: 10_000n,
  extraCost: 0n,
  input: 500n,
  spare: 0n,
  inputsMax: 20,
  wantsSats: false,
};
type Kind = 'plain' | 'runic' | 'inscribed' | 'unindexed';
interface Paid {
  readonly value: bigint;
  readonly kind: Kind;
}
const heldAs: Readonly<Record<Kind, HeldPayment>> = {
  plain: plainPayment,
  runic: { ...plainPayment, isHolding: true },
  inscribed: { ...plainPayment, isHolding: true, inscriptions: [{ id: 'i0', offset: 40n }] },
  unindexed: { ...plainPayment, isIndexed: false },
};
const heldOf = (paid: readonly Paid[]): HeldPayments =>
  new Map(paid.map(({ kind }, vout) => [outpoint(vout), heldAs[kind]]));
const factsOf = (paid: readonly Paid[], wantsSats = false): OrderFacts =>
  ({
    costs: { ...costs, wantsSats },
    expiresAt: new Date(1),
    tip: asHeight(9),
    confirmations: 1,
    payments: paid.map(
      ({ value, kind }, vout): OrderPayment => ({
        outpoint: outpoint(vout),
        value,
        firstSeen: new Date(0),
        height: asHeight(5),
        isGone: false,
        isTaken: false,
        isUsed: false,
        isInscribed: kind === 'inscribed' && !wantsSats,
      }),
    ),
  }) as unknown as OrderFacts;
const selected = (paid: readonly Paid[], wantsSats = false) => {
  const found = selectedHoldingLeast(factsOf(paid, wantsSats), heldOf(paid));
  return found === 'unindexed' ? found : found.map((coin) => coin.outpoint);
};

describe('the payments of a delivery', () => {
  test('hold only sats if these are enough, else runes, and never inscriptions', () => {
    const paid: Paid[] = [
      { value: 50_000n, kind: 'inscribed' },
      { value: 20_000n, kind: 'runic' },
      { value: 10_000n, kind: 'plain' },
    ];
    expect(selected(paid)).toEqual([outpoint(2)]);
    expect(selected([paid[0]!, paid[1]!, { value: 9000n, kind: 'plain' }])).toEqual([outpoint(1)]);
    expect(() => selected([paid[0]!, { value: 9000n, kind: 'plain' }])).toThrow('has coins that pay');
  });

  test('are spent in the order of the chain, whatever order they are read in', () => {
    const paid: Paid[] = [4000n, 9000n, 700n, 5000n].map((value) => ({ value, kind: 'plain' }));
    const facts = factsOf(paid);
    const heights = [7, 5, 3, 4].map(asHeight);
    const payments = facts.payments.map((payment, vout) => ({ ...payment, height: heights[vout]! }));
    for (const read of [payments, payments.toReversed()]) {
      const spent = selectedHoldingLeast({ ...facts, payments: read }, heldOf(paid));
      if (spent === 'unindexed') throw new Error('all are indexed');
      // the two largest coins pay
      expect(spent.map((coin) => coin.outpoint)).toEqual([outpoint(3), outpoint(1)]);
    }
  });

  test('are unknown until the index has their blocks', () => {
    expect(
      selected([
        { value: 10_000n, kind: 'plain' },
        { value: 400n, kind: 'unindexed' },
      ]),
    ).toBe('unindexed');
  });

  test('are all that are looked up if the order wants certain sats', () => {
    const paid: Paid[] = [
      { value: 10_000n, kind: 'plain' },
      { value: 20_000n, kind: 'inscribed' },
    ];
    expect(selected(paid, true)).toHaveLength(2);
  });

  test('pay, and have no inscription among them', () => {
    const one = fc.record<Paid>({
      value: fc.bigInt({ min: 330n, max: 30_000n }),
      kind: fc.constantFrom<Kind>('plain', 'plain', 'runic', 'inscribed'),
    });
    fc.assert(
      fc.property(fc.array(one, { maxLength: 12 }), (paid) => {
        const { payments } = factsOf(paid);
        const others = payments.filter(({ isInscribed }) => !isInscribed);
        fc.pre(selectCoins(others, costs) !== null);
        const held = heldOf(paid);
        const chosen = selectedHoldingLeast(factsOf(paid), held);
        if (chosen === 'unindexed') throw new Error('all are indexed');
        expect(selectCoins(chosen, costs)).not.toBeNull();
        expect(chosen.every((coin) => held.get(coin.outpoint)?.inscriptions.length === 0)).toBe(true);
      }),
      { numRuns: propertyRuns(300) },
    );
  });
});

describe('an inscription among placed payments', () => {
  const placed = (...values: bigint[]) =>
    ({
      kind: 'placed',
      payments: values.map((value, vout) => ({ txid, vout, value }) as unknown as CoinPayment),
    }) as const;
  const held = (...kinds: Kind[]): HeldPayments => heldOf(kinds.map((kind) => ({ value: 0n, kind })));

  test('causes a full refund: it would be ours, or a fee', () => {
    expect(guardInscriptions(placed(5000n), held('plain'), 0n)).toEqual(placed(5000n));
    expect(guardInscriptions(placed(5000n, 9000n), held('plain', 'inscribed'), 0n)).toMatchObject({
      kind: 'unwanted',
    });
    expect(guardInscriptions(placed(5000n), held('runic'), 0n)).toEqual(placed(5000n));
  });

  test('is allowed in the sats that the receiver gets', () => {
    expect(guardInscriptions(placed(5000n), held('inscribed'), 546n)).toEqual(placed(5000n));
    expect(guardInscriptions(placed(5000n), held('inscribed'), 40n)).toMatchObject({ kind: 'unwanted' });
    expect(guardInscriptions(placed(600n, 9000n), held('plain', 'inscribed'), 546n)).toMatchObject({
      kind: 'unwanted',
    });
  });
});
