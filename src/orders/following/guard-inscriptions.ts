import assert from 'node:assert/strict';
import { inChainOrder, selectPlainFirst } from '#orders/order/coin-selection.ts';
import { countedDeep, type OrderFacts, type OrderPayment } from '#orders/order/order-facts.ts';
import type { HeldPayments } from '#orders/parents/held-payments.ts';
import type { PlacedPayments } from '#orders/sats/place-sats.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';

/**
 * The payments of a delivery, in the sequence in which the delivery spends them. Payments with runes are used only if
 * the other payments are not enough, because the delivery sends these runes to its receiver. If the order wants certain
 * sats, these sats decide which payments are spent, and in which sequence. Returns `unindexed` if the index lacks the
 * block of a payment. Pure.
 */
export function selectedHoldingLeast(
  facts: Pick<OrderFacts, 'costs' | 'expiresAt' | 'now' | 'tip' | 'confirmations' | 'payments'>,
  held: HeldPayments,
): readonly OrderPayment[] | 'unindexed' {
  const counted = countedDeep(facts);
  if (!counted.every(({ outpoint }) => held.get(outpoint)?.isIndexed === true)) return 'unindexed';
  const isPlain = ({ outpoint }: OrderPayment): boolean => held.get(outpoint)?.isHolding === false;
  const selected = selectPlainFirst(counted, isPlain, facts.costs);
  assert(selected !== null, 'an order that is paid has coins that pay for it');
  return facts.costs.wantsSats ? selected : inChainOrder(selected);
}

/**
 * Returns the placed payments, or `unwanted` if the delivery would lose an inscription in the payments. The first
 * `kept` sats go to the receiver, so inscriptions on these sats are safe. The following sats go to us, and the last
 * sats are the fee, so inscriptions on these sats would be lost. Pure.
 */
export function guardInscriptions(placed: PlacedPayments, held: HeldPayments, kept: bigint): PlacedPayments {
  if (placed.kind !== 'placed') return placed;
  let before = 0n;
  for (const payment of placed.payments) {
    const inscriptions = held.get(outpointOf(payment))?.inscriptions ?? [];
    if (inscriptions.some(({ offset }) => before + offset >= kept))
      return { kind: 'unwanted', reason: paidWithInscription };
    before += payment.value;
  }
  return placed;
}

const paidWithInscription =
  'A payment has an inscription that would be lost. Nothing is inscribed, and the complete payment is refunded.';
