import { describe, expect, test } from 'vitest';
import type { SoldStanding } from '#collections/selling/sold-items.store.ts';
import {
  type AuditedCollectionOrder,
  faultsOfCollectionOrder,
} from '#orders/audit/collection-order-faults.ts';
import { type OrderState, orderStates } from '#orders/order/order-machine.ts';

const standings: readonly SoldStanding[] = ['making', 'unpaid', 'allowed', 'refused', 'late', 'released'];
const order = (given: Partial<AuditedCollectionOrder>): AuditedCollectionOrder => ({
  id: 'one',
  state: 'completed',
  standing: 'allowed',
  items: 3,
  price: 1_000n,
  isStocked: false,
  mayBeDelivered: false,
  earned: 3_000n,
  revenue: 600n,
  ...given,
});
const kinds = (given: Partial<AuditedCollectionOrder>): string[] =>
  faultsOfCollectionOrder(order(given)).map(({ kind }) => kind);

describe('the items of an order of a collection', () => {
  const holding: readonly SoldStanding[] = ['unpaid', 'allowed'];
  const rightIn = (state: OrderState | null): readonly SoldStanding[] => {
    if (state === null) return ['making', 'released'];
    if (state === 'queued' || state === 'completed') return ['allowed'];
    const stored = standings.filter((standing) => standing !== 'making');
    return state === 'cancelled' || state === 'waiting-refund' || state === 'refunded'
      ? stored.filter((standing) => !holding.includes(standing))
      : stored;
  };

  test.for([null, ...orderStates])('in the state %s', (state) => {
    const right = standings.filter(
      (standing) => !kinds({ state, standing, earned: 0n, revenue: 0n }).includes('standing'),
    );
    expect(right).toEqual(rightIn(state));
  });

  test.for(orderStates)('are its own in the state %s while its delivery may be mined', (state) => {
    const right = holding.filter(
      (standing) => !kinds({ state, standing, mayBeDelivered: true }).includes('standing'),
    );
    expect(right).toEqual(state === 'queued' || state === 'completed' ? ['allowed'] : holding);
  });

  test('are named with the order, its state, its items and the right number', () => {
    expect(faultsOfCollectionOrder(order({ standing: 'released' }))).toEqual([
      { kind: 'standing', where: 'one (completed, released)', noted: 3n, found: 0n },
    ]);
    expect(faultsOfCollectionOrder(order({ state: 'refunded', earned: 0n }))).toEqual([
      { kind: 'standing', where: 'one (refunded, allowed)', noted: 0n, found: 3n },
    ]);
  });
});

describe('the sats of a creator', () => {
  test('are the price of each item, and never more', () => {
    expect(kinds({})).toEqual([]);
    expect(kinds({ earned: 3_001n })).toEqual(['earned']);
    expect(kinds({ earned: 2_999n })).toEqual(['earned']);
    expect(kinds({ state: 'queued', earned: 3_001n })).toEqual(['earned']);
  });

  test('may be fewer if nothing is left for the service, or single files were refunded', () => {
    expect(kinds({ earned: 2_000n, revenue: 0n })).toEqual([]);
    expect(kinds({ earned: 2_000n, isStocked: true })).toEqual([]);
    // the order's delivery is not in a block yet
    expect(kinds({ state: 'queued', earned: 0n })).toEqual([]);
  });

  test('are zero if nothing is delivered', () => {
    for (const state of ['waiting-payment', 'expired', 'cancelled', 'refunded'] as const)
      expect(kinds({ state, standing: 'released', earned: 3_000n })).toEqual(['earned']);
  });
});
