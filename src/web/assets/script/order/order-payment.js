// Makes the payment for an inscription order, in the form that wallets use.
import { postJson } from './ask-service.js';
import { askedSats } from './state-words.js';

/** @import { Order } from './order-shapes.js' */
/** @import { Payment } from './wallet-view.js' */

/**
 * Makes the payment for an order. The result is null if no payment is needed.
 *
 * @param {Order} order
 * @returns {Payment | null}
 */
export function paymentOf(order) {
  const way = order.psbt;
  if (way === undefined) return null;
  return {
    asked: JSON.stringify([order.id, way, askedSats(order)]),
    charges: [{ address: order.charge.address, sats: way.body.chargeAmount ?? 0 }],
    special: order.allowedSatributes ?? [],
    make: (account, specialOutput) =>
      postJson(way.path, {
        ...way.body,
        ...account,
        ...(specialOutput === '' ? {} : { specialSatsOutput: specialOutput }),
      }),
  };
}
