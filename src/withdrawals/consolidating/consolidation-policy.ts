/** Bounds of the operator for joining small coins of accounts. */
export interface ConsolidationPolicy {
  /** CONSOLIDATE_FEE_RATE_MAX, in sats for 1,000 virtual bytes */
  readonly feeRateMax: bigint;
  /** CONSOLIDATE_DAILY_SATS; 0n: nothing is joined */
  readonly dayMax: bigint;
}

/**
 * A coin is poor if it costs more than it brings at ten times CONSOLIDATE_FEE_RATE_MAX: fees rose tenfold within days
 * more than once, and withdrawals are made at high fees, too.
 */
export const poorFactor = 10n;
