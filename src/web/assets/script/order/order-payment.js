// The payment that an order of inscriptions asks for, as wallets are handed it.
import { postJson } from './ask-service.js';
import { askedSats } from './state-words.js';

/** @import { Order } from './order-shapes.js' */
/** @import { Payment } from './wallet-view.js' */

/**
 * Null: nothing is asked for.
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
