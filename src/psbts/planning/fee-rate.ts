import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';

/**
 * Bounds for a requested fee rate, in sats per virtual byte. Nodes do not relay lower rates, and no one has ever paid
 * more.
 */
export const feeRateBounds = { least: 0.1, most: 10_000 } as const;

/**
 * Units of a fee rate. With `either`, a number below 0.1 is in bitcoins per 1,000 virtual bytes, as in
 * `estimatesmartfee`.
 */
export type FeeRateUnit = 'sat/vB' | 'either';

/** An exponent is allowed, because PHP prints 0.00001 as `1.0E-5`. */
const digits = /^\d{1,15}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?$/u;
const satsOfBitcoin = 100_000_000;
const { least, most } = feeRateBounds;

/**
 * Reads a fee rate of a request, a number or its text. Returns sats per 1,000 virtual bytes, rounded up. Returns null
 * if the rate is absent or 0, which means the node's estimate. Also returns null after adding a fault of the field to
 * `values`. Total.
 */
export function readFeeRate(
  values: RequestValues,
  name: string,
  given: unknown,
  unit: FeeRateUnit = 'sat/vB',
): bigint | null {
  if (!isGiven(given)) return null;
  const isNumber = typeof given === 'number' || (typeof given === 'string' && digits.test(given));
  const number = isNumber ? Number(given) : Number.NaN;
  if (number === 0) return null;
  const rate = unit === 'either' ? satsOfEither(number) : number;
  if (rate >= least && rate <= most) return BigInt(Math.ceil(Math.round(rate * 1_000_000) / 1000));
  const orBitcoins = unit === 'either' ? ', or bitcoins for 1,000 virtual bytes from 0.00001 to 0.01' : '';
  return values.fault(name, `must be from ${least} to ${most} sats per virtual byte${orBitcoins}`);
}

/**
 * Converts a rate to sats per virtual byte. Returns NaN for a rate in bitcoins that nodes never estimate, because it is
 * probably a mistake.
 */
function satsOfEither(number: number): number {
  if (number >= least) return number;
  const rate = (number * satsOfBitcoin) / 1000;
  return rate >= 1 && rate <= 1000 ? rate : Number.NaN;
}

/**
 * Maximum fee of a transaction with this weight, in sats. By default, nodes do not send a transaction with a higher fee
 * (Bitcoin Core, DEFAULT_MAX_RAW_TX_FEE_RATE).
 */
export const feeMost = (weight: number): bigint => BigInt(most) * BigInt(virtualSize(weight));

/** Converts a rate to sats per virtual byte, for responses. */
export const shownFeeRate = (feeRate: bigint): number => Number(feeRate) / 1000;
