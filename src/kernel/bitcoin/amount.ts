import { AppError } from '#kernel/errors/app-error.ts';
import { asSats, type Sats } from '#kernel/primitives/sats.ts';

/** Maximum number of sats, which is 21 million bitcoins (Bitcoin Core consensus/amount.h MAX_MONEY). */
const satsMax = 21_000_000 * 100_000_000;

/**
 * Converts an amount in bitcoins from the node's JSON to sats. The result is exact. A double below 2^25 is off by at
 * most 2^-29, which is less than half a sat even after the multiplication. So rounding returns the amount that was
 * written. Throws `node_answer_invalid` for a value that is not an amount, exceeds the maximum supply, or has more than
 * eight decimals.
 */
export function satsOfBitcoins(amount: unknown): Sats {
  if (typeof amount === 'number' && amount >= 0) {
    const scaled = amount * 100_000_000;
    const sats = Math.round(scaled);
    if (sats <= satsMax && Math.abs(scaled - sats) < 0.4) return asSats(sats);
  }
  throw new AppError(
    'node_answer_invalid',
    `The node returned ${JSON.stringify(amount)}, which is not a valid amount.`,
  );
}

/** The smallest of these amounts. */
export const smallest = (first: bigint, ...others: readonly bigint[]): bigint =>
  others.reduce((least, amount) => (amount < least ? amount : least), first);
