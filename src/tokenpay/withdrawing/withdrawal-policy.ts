/** The rules for prices of withdrawals, which come from the settings. */
export interface WithdrawalPolicy {
  /** The setting WITHDRAW_FEE_PAYER. */
  readonly feePayer: 'account' | 'operator';
  /** The setting WITHDRAW_DEBT_MAX_SATS. */
  readonly debtMax: bigint;
  /** The setting WITHDRAW_INPUTS_MAX. */
  readonly inputsMax: number;
}

/** Fee rates in sats per 1,000 virtual bytes. */
export interface FeeRates {
  readonly least: bigint;
  readonly usual: bigint;
}
