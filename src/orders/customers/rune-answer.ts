import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import { tokenOrderAnswer } from '#tokenpay/telling/token-order-answer.ts';

/** Shown with each such order, before anything is paid. */
export const runeRefunds =
  'Nothing is inscribed until both charges are paid. Unused sats are refunded like those of any order. Runes go to the creator of the collection as soon as they are paid, also a part, too many, or too late ones: the service cannot send them back, so ask the creator.';

/**
 * Shows how an order of a collection with a price in a rune is paid (client-compat 3.11): the sats at the order's
 * address, and the rune at an address of its own, which belongs to the creator.
 *
 * @param origin at which customers reach this service
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
