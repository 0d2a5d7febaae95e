// Makes the payment for a shop's order, in the form that wallets use.
import { postJson } from './ask-service.js';

/** @import { Payment } from './wallet-view.js' */

/**
 * The missing amounts, from the page of the order (checkout.page.ts).
 *
 * @typedef {{
 *   readonly token: { readonly address: string, readonly units: string } | null,
 *   readonly fee: { readonly address: string, readonly sats: number } | null,
 * }} Missing
 *
 * @typedef {{ readonly runeInputs: { readonly indices: readonly number[] }, readonly paymentInputs: { readonly indices: readonly number[] } }} BuiltTokens
 */

/** Minimum number of sats in the output with the token. */
const tokenSatsMin = 1;

/**
 * Makes the payment for the missing amounts. The result is null if no PSBT can be made now.
 *
 * @param {string} orderId
 * @param {string | undefined} text the missing amounts from the page
 * @returns {Payment | null}
 */
export function shopPaymentOf(orderId, text) {
  if (text === undefined) return null;
  const { token, fee } = /** @type {Missing} */ (JSON.parse(text));
  return {
    asked: text,
    charges: [
      ...(token === null ? [] : [{ address: token.address, sats: tokenSatsMin }]),
      ...(fee === null ? [] : [fee]),
    ],
    special: [],
    make: async (account) => {
      const outcome = await postJson('/tokenpay/create-payment-psbt', { orderId, ...account });
      if (outcome.kind !== 'answered') return outcome;
      const built = /** @type {BuiltTokens} */ (outcome.body);
      return {
        kind: 'answered',
        // convert to the form in which wallets sign other payments
        body: {
          ...built,
          ordinalInputIndices: built.runeInputs.indices,
          paymentInputIndices: built.paymentInputs.indices,
        },
      };
    },
  };
}
