import { displayHash } from '#kernel/primitives/hash.ts';
import { isClosing, type OwedMoney } from '#orders/ledger/settlements.ts';
import { isWorthRefunding } from '#orders/making/plan-refund.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderFacts } from '#orders/order/order-facts.ts';
import type { PlacedMoney } from './place-money.ts';
import type { OrderRecords } from './read-records.ts';

/**
 * The outputs that a refund of an order spends now. Empty if no refund is due. A refund is due in three cases:
 *
 * - the order is in `waiting-refund` (`src/orders/order/order-machine.ts` says how an order gets there)
 * - the order is delivered and has an excess payment
 * - a reveal etched nothing; the refund then spends our outputs of this reveal
 *
 * A due return is tried first, because it may spend the same money. `src/orders/making/plan-refund.ts` leaves out
 * outputs that cost more than they hold. Pure.
 */
export function refundedNow(
  { state, refundScript }: Pick<Order, 'state' | 'refundScript'>,
  { isRevealed, etching }: Pick<OrderRecords, 'isRevealed' | 'etching'>,
  { owed, isHoldingParents }: Pick<PlacedMoney, 'owed'> & { readonly isHoldingParents: boolean },
): readonly OwedMoney[] {
  const isLost = state === 'error' && etching?.isNameLost === true;
  const isDue = state === 'waiting-refund' || (isRevealed && (state === 'completed' || isLost));
  if (!isDue || refundScript === null) return [];
  // the return of a parent may need all money of the order, so the money is kept until the parent is returned; only the
  // excess in our outputs is refunded at once
  return isHoldingParents ? owed.filter(({ value, owed: theirs }) => theirs < value) : owed;
}

/**
 * The progress of refunds and returns. `sent`: at least one refund or return is stored. `deep`: all of them are in
 * blocks, and nothing remains to refund or return. Returns null if no refund or return is stored. Pure.
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
