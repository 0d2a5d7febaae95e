import type { TokenOrder } from '#tokenpay/order/token-order.ts';
import { tokenOrderAnswer } from '#tokenpay/telling/token-order-answer.ts';

/** Terms of refunds. They are shown with each order that is paid in a rune, before anything is paid. */
export const runeRefunds =
  'Nothing is inscribed until both charges are paid. Unused sats are refunded as for any order. Runes go to the creator of the collection as soon as they are paid, even if they are too few, too many or too late. The service cannot send runes back, so ask the creator.';

/**
 * Shows how to pay an order of a collection whose price includes a rune (client-compat 3.11). The sats are paid to the
 * order's address. The rune is paid to a separate address that belongs to the creator.
 *
 * @param origin scheme and host at which customers reach this service
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
