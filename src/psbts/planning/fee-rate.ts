import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import { isGiven, type RequestValues } from '#kernel/requests/request-values.ts';

/** Sats per virtual byte that a request may name: nodes relay nothing below, and no one has ever paid more. */
export const feeRateBounds = { least: 0.1, most: 10_000 } as const;

/** Units of a fee rate. `either`: a number below 0.1 is bitcoins for 1,000 virtual bytes, as in `estimatesmartfee`. */
export type FeeRateUnit = 'sat/vB' | 'either';

/** PHP prints 0.00001 as `1.0E-5`. */
const digits = /^\d{1,15}(?:\.\d{1,30})?(?:[eE][+-]?\d{1,2})?$/u;
const satsOfBitcoin = 100_000_000;
const { least, most } = feeRateBounds;

/**
 * A fee rate of a request, a number or its text, in sats for 1,000 virtual bytes; rounded up. Null if absent or 0: then
 * the node's estimate counts. Null also if `values` has the fault of the field. Total.
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

/** Sats per virtual byte. NaN: a rate in bitcoins that nodes do not estimate, which is probably a mistake. */
function satsOfEither(number: number): number {
  if (number >= least) return number;
  const rate = (number * satsOfBitcoin) / 1000;
  return rate >= 1 && rate <= 1000 ? rate : Number.NaN;
}

/**
 * The most sats that a transaction of a weight may pay: nodes do not send one that pays more unless told to (Bitcoin
 * Core, DEFAULT_MAX_RAW_TX_FEE_RATE).
 */
export const feeMost = (weight: number): bigint => BigInt(most) * BigInt(virtualSize(weight));

/** A rate in sats per virtual byte, for answers. */
export const shownFeeRate = (feeRate: bigint): number => Number(feeRate) / 1000;
