// The payment that an order of a shop asks for, as wallets are handed it.
import { postJson } from './ask-service.js';

/** @import { Payment } from './wallet-view.js' */

/**
 * The page of the order says what is missing (checkout.page.ts).
 *
 * @typedef {{
 *   readonly token: { readonly address: string, readonly units: string } | null,
 *   readonly fee: { readonly address: string, readonly sats: number } | null,
 * }} Missing
 *
 * @typedef {{ readonly runeInputs: { readonly indices: readonly number[] }, readonly paymentInputs: { readonly indices: readonly number[] } }} BuiltTokens
 */

/** The output with the token has sats, at least one. */
const tokenSatsMin = 1;

/**
 * Null: no PSBT is made now.
 *
 * @param {string} orderId
 * @param {string | undefined} text what is missing, as the page has it
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
        // as wallets are asked for signatures of other payments
        body: {
          ...built,
          ordinalInputIndices: built.runeInputs.indices,
          paymentInputIndices: built.paymentInputs.indices,
        },
      };
    },
  };
}
