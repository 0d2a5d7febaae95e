import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import { tokenOrderAnswer } from '#tokenpay/telling/token-order-answer.ts';

/** Said with each order, before anything is paid. */
export const runeRefunds =
  'Both charges are paid, or nothing is inscribed. Sats that are not used are refunded as those of any order. The rune goes to the creator of the collection with its payment, also a part, too much, or too late: the service sends none of it back, so ask the creator.';

/**
 * How an order of a collection with a price in a rune is paid (client-compat 3.11): the sats at the address of the
 * order, and the rune at one of its own, which is the creator's.
 *
 * @param origin where customers reach this service
 */
export function tokenPayCharge(order: TokenOrder, origin: string): object {
  const { feeCharge, tokenCharge } = tokenOrderAnswer(order, [], new Map());
  return {
    id: order.id,
    state: order.state,
    feeCharge,
    tokenCharge,
    hosted_checkout_url: `${origin}/tokenpay/checkout/${order.id}`,
    expiresAt: order.expiresAt.getTime(),
    refunds: runeRefunds,
  };
}
