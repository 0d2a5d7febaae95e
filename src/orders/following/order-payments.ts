import { isClosing } from '#orders/ledger/settlements.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderPayment } from '#orders/order/order-facts.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { type HeldPayments, isInscribed } from '#orders/parents/held-payments.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';

/** The records that decide which payments to the address of an order are usable. */
export interface PaymentRecords {
  readonly payments: readonly WatchedPayment[];
  readonly transactions: readonly OrderTransaction[];
  readonly held: HeldPayments;
}

/** The payments to the address of an order as facts, in the sequence of the records. Pure. */
export function orderPayments(
  order: Pick<Order, 'request'>,
  { payments, transactions, held }: PaymentRecords,
): OrderPayment[] {
  // no reveal may spend an output that a refund or return spends, because the refund or return may already be mined
  const taken = spentBy(transactions.filter(isClosing));
  const used = new Set([...spentBy(transactions, 'commit'), ...spentBy(transactions, 'reveal')]);
  return payments.map((payment) => {
    const outpoint = outpointOf(payment);
    return {
      outpoint,
      value: payment.value,
      firstSeen: payment.firstSeen,
      height: payment.block?.height ?? null,
      isGone: payment.goneAt !== null,
      isTaken: taken.has(outpoint),
      isUsed: used.has(outpoint),
      isInscribed: isInscribed(order, held.get(outpoint)),
    };
  });
}
