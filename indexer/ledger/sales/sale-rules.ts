import type { Coin } from './moving-transaction.ts';

/** The version of the rules and of their data. Each row names the version that made it. */
export const salesRules = 3;

/** The largest output that a buyer puts before an item, to shift it: openordex takes up to 1,000 sats, msigner too. */
export const dummyMax = 1_000;
/** The smallest output that can be a fee: platforms keep no fee that would be dust. msigner leaves out 580 and less. */
export const feeOutputMin = 581;
/** The largest part of a price that can be a fee: platforms take some hundredths, and creators a tenth at most. */
export const feePartMax = 1 / 4;
/**
 * The largest output that counts as dust. An output of a legacy script below 546 sats is dust, and wallets send items
 * that are not sold with about that amount.
 */
export const dustMax = 546;
/** OP_RETURN: an unspendable output. */
export const opReturn = '\x6a';

/** The list price of a payout: without the sats of the item, if they are returned with it. */
export function priceOfPair(spent: Coin, payout: Coin, isPostageReturned: boolean): number {
  const rest = payout.value - spent.value;
  return isPostageReturned && rest > 0 ? rest : payout.value;
}
