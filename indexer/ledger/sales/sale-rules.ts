import type { Coin } from './moving-transaction.ts';

/** Version of the rules and of their constants. Each row stores the version that made it. */
export const salesRules = 3;

/**
 * Maximum value in sats of an output that a buyer puts before an item to shift it. openordex and msigner take up to
 * 1,000 sats.
 */
export const dummyMax = 1_000;
/**
 * Minimum value in sats of an output that can be a fee. Platforms take no fee that would be dust; msigner omits fees of
 * 580 sats and less.
 */
export const feeOutputMin = 581;
/** Maximum part of a price that can be a fee. Platforms take some hundredths, and creators a tenth at most. */
export const feePartMax = 1 / 4;
/**
 * Maximum value in sats of an output that is treated as dust. An output of a legacy script below 546 sats is dust, and
 * wallets use about that amount to send items that are not sold.
 */
export const dustMax = 546;
/** OP_RETURN: an unspendable output. */
export const opReturn = '\x6a';

/** The list price in a payout. The sats of the item are subtracted if the payout returns them. */
export function priceOfPair(spent: Coin, payout: Coin, isPostageReturned: boolean): number {
  const rest = payout.value - spent.value;
  return isPostageReturned && rest > 0 ? rest : payout.value;
}
