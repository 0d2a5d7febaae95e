import assert from 'node:assert/strict';
import { guardInscriptions, selectedHoldingLeast } from '#orders/following/guard-inscriptions.ts';
import { postageOf } from '#orders/inscribing/settled-terms.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderFacts } from '#orders/order/order-facts.ts';
import { termsOf } from '#orders/order/stored-terms.ts';
import type { HeldPayments } from '#orders/parents/held-payments.ts';
import type { PaidFunds, PlacedPayments } from '#orders/sats/place-sats.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/** Facts that decide which payments a delivery spends. */
export type SpendingFacts = Pick<
  OrderFacts,
  'costs' | 'expiresAt' | 'now' | 'tip' | 'confirmations' | 'payments'
>;

/** Money and parents that arrived for an order. */
export interface CameFor extends Pick<PaidFunds, 'parents'> {
  /** Facts whose `payments` are only the payments that pay for the order. */
  readonly facts: SpendingFacts;
  readonly payments: readonly WatchedPayment[];
  readonly held: HeldPayments;
}

/**
 * Selects the payments that a delivery spends, in a fixed sequence, so the same payments always make the same
 * transaction. Payments with runes are spent only if the other payments are not enough. The result is `pending` if the
 * contents of the payments are not known yet. Pure.
 *
 * @param placeSats sorts the selected payments by the requirements of their sats
 */
export function spendPayments(
  order: Pick<Order, 'terms'>,
  { facts, payments, held, parents }: CameFor,
  placeSats: (funds: PaidFunds) => PlacedPayments,
): PlacedPayments {
  const selected = selectedHoldingLeast(facts, held);
  // the next block of the index shows the contents, and makes the order due
  if (selected === 'unindexed') return { kind: 'pending' };
  const byOutpoint = new Map(payments.map((payment) => [outpointOf(payment), payment]));
  const spent = selected.map(({ outpoint }) => {
    const payment = byOutpoint.get(outpoint);
    assert(payment !== undefined, 'facts know payments of the order alone');
    return { ...payment, outpoint };
  });
  return guardInscriptions(
    placeSats({ costs: facts.costs, payments: spent, parents }),
    held,
    facts.costs.wantsSats ? postageOf(termsOf(order.terms)) : 0n,
  );
}
