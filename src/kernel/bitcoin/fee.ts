import { virtualSize } from './transaction-size.ts';

/** The fee of a weight. The rate is in sats per 1,000 virtual bytes. */
export const feeOf = (weight: number, feeRate: bigint): bigint => feeAt(virtualSize(weight), feeRate);

/** The fee of a virtual size, rounded up. */
export const feeAt = (virtualBytes: number, feeRate: bigint): bigint =>
  (BigInt(virtualBytes) * feeRate + 999n) / 1000n;
