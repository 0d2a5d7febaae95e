import { displayHash } from '#kernel/primitives/hash.ts';
import { isClosing, type OwedMoney } from '#orders/ledger/settlements.ts';
import { isWorthRefunding } from '#orders/making/plan-refund.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderFacts } from '#orders/order/order-facts.ts';
import type { Return } from '#orders/parents/returns.ts';
import type { PlacedMoney } from './place-money.ts';
import type { OrderRecords } from './read-records.ts';

/**
 * The outputs that a refund of an order spends now; empty: no refund is made. An order is refunded in
 * `waiting-refund`, and what was paid too much once it is delivered (`src/orders/order/order-machine.ts` says how an
 * order gets there). `src/orders/making/plan-refund.ts` leaves outputs that cost more than they hold. Pure.
 *
 * @param returned the return of deposits that is due; null: none is
 */
export function refundedNow(
  { state, refundScript }: Pick<Order, 'state' | 'refundScript'>,
  { isRevealed }: Pick<OrderRecords, 'isRevealed'>,
  { owed, isHoldingDeposits }: Pick<PlacedMoney, 'owed' | 'isHoldingDeposits'>,
  returned: Return | null,
): readonly OwedMoney[] {
  const isDue = state === 'waiting-refund' || (state === 'completed' && isRevealed);
  if (!isDue || refundScript === null) return [];
  // a return is made first, and spends the same money
  if (returned !== null && returned.money.length > 0) return [];
  // money that a return may cost stays until all deposits are being returned; ours pays where the rest cannot
  return isHoldingDeposits ? owed.filter(({ value, owed: theirs }) => theirs < value) : owed;
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
