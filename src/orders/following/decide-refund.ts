import { displayHash } from '#kernel/primitives/hash.ts';
import { isClosing, type OwedMoney } from '#orders/ledger/settlements.ts';
import { isWorthRefunding } from '#orders/making/plan-refund.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderFacts } from '#orders/order/order-facts.ts';
import type { PlacedMoney } from './place-money.ts';
import type { OrderRecords } from './read-records.ts';

/**
 * The outputs that a refund of an order spends now; empty: no refund is made. An order is refunded in `waiting-refund`,
 * what was paid too much once it is delivered, and what is ours of a reveal that etched nothing
 * (`src/orders/order/order-machine.ts` says how an order gets there). A return that is due is tried first, as it may
 * spend the same money. `src/orders/making/plan-refund.ts` leaves outputs that cost more than they hold. Pure.
 */
export function refundedNow(
  { state, refundScript }: Pick<Order, 'state' | 'refundScript'>,
  { isRevealed, etching }: Pick<OrderRecords, 'isRevealed' | 'etching'>,
  { owed, isHoldingParents }: Pick<PlacedMoney, 'owed'> & { readonly isHoldingParents: boolean },
): readonly OwedMoney[] {
  const isLost = state === 'error' && etching?.isNameLost === true;
  const isDue = state === 'waiting-refund' || (isRevealed && (state === 'completed' || isLost));
  if (!isDue || refundScript === null) return [];
  // a parent is worth all money of the order, which stays until it can be returned; ours pays where the rest cannot
  return isHoldingParents ? owed.filter(({ value, owed: theirs }) => theirs < value) : owed;
}

/**
 * The progress of refunds and returns: `sent` once one is stored, `deep` once blocks have all of them and nothing is
 * left to refund or return. Null: none is stored. Pure.
 */
export function refundProgress(
  { refundScript }: Pick<Order, 'refundScript'>,
  { transactions, mined }: Pick<OrderRecords, 'transactions' | 'mined'>,
  { unspentSats, isHoldingDeposits }: Pick<PlacedMoney, 'unspentSats' | 'isHoldingDeposits'>,
): OrderFacts['refund'] {
  const closings = transactions.filter(isClosing);
  if (closings.length === 0) return null;
  const isLeft = refundScript === null ? unspentSats > 0n : isWorthRefunding(unspentSats, refundScript);
  const areMined = closings.every(({ txid }) => mined.has(displayHash(txid)));
  return areMined && !isLeft && !isHoldingDeposits ? 'deep' : 'sent';
}
