/** Bounds for joining small coins of accounts, set by the operator. */
export interface ConsolidationPolicy {
  /** The setting CONSOLIDATE_FEE_RATE_MAX, in sats per 1,000 virtual bytes. */
  readonly feeRateMax: bigint;
  /** The setting CONSOLIDATE_DAILY_SATS. If it is 0n, no coins are joined. */
  readonly dayMax: bigint;
}

/**
 * Factor on CONSOLIDATE_FEE_RATE_MAX. A coin is poor if spending it at this higher rate costs more than its value. Fees
 * have risen tenfold within days more than once, and withdrawals are also made at high fees.
 */
export const poorFactor = 10n;
