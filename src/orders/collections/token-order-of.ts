import type pg from 'pg';
import type { Order } from '#orders/order/order.store.ts';
import { tokenOrderIdOf } from '#tokenpay/inscribing/inscription-fees.store.ts';
import { readTokenOrder } from '#tokenpay/order/token-order.store.ts';
import type { TokenOrder } from '#tokenpay/order/token-order.ts';

/** The token order that charges the rune of an order; null if the price is in sats only. */
export async function tokenOrderOf(
  client: pg.Pool | pg.ClientBase,
  { id, request }: Pick<Order, 'id' | 'request'>,
): Promise<TokenOrder | null> {
  const tokenOrder = request.collection === undefined ? null : await tokenOrderIdOf(client, id);
  return tokenOrder === null ? null : readTokenOrder(client, tokenOrder);
}
