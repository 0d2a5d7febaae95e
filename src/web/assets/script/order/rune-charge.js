// Orders for a collection whose price is in a rune. Such an order has two charges. Pure.

/** @import { Order } from './order-shapes.js' */

/**
 * @typedef {{ readonly amount: number, readonly address: string, readonly state: string }} FeeCharge
 * @typedef {{ readonly amount: number, readonly amountBase: string, readonly token: string, readonly state: string }} TokenCharge
 * @typedef {{
 *   readonly id: string,
 *   readonly state: 'pending' | 'completed' | 'error',
 *   readonly feeCharge: FeeCharge,
 *   readonly tokenCharge: TokenCharge,
 *   readonly refunds: string,
 * }} TokenPayCharge
 */

/**
 * An order with its charge in sats, even if the customer must pay a rune in addition.
 *
 * @param {Omit<Order, 'charge'> & { readonly charge?: Order['charge'] }} read
 * @returns {Order}
 */
export const withCharge = (read) => ({
  ...read,
  charge: read.charge ?? read.tokenPayCharge?.feeCharge ?? { address: '', amount: 0 },
});

/**
 * Whether the customer must now pay both a rune and sats.
 *
 * @param {Pick<Order, 'state' | 'tokenPayCharge'>} order
 */
export const isRunePayable = ({ state, tokenPayCharge }) =>
  state === 'waiting-payment' && tokenPayCharge?.state === 'pending';

/** @param {Pick<TokenCharge, 'amount' | 'token'>} charge */
export const runeWords = ({ amount, token }) => `${amount} ${token}`;

/** @param {string} state */
export const chargeWords = (state) =>
  state === 'completed' ? 'paid' : state === 'payment_seen' ? 'payment seen' : 'not paid yet';
