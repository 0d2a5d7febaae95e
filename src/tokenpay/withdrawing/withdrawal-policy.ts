/** The rules of prices, from the settings. */
export interface WithdrawalPolicy {
  /** WITHDRAW_FEE_PAYER */
  readonly feePayer: 'account' | 'operator';
  /** WITHDRAW_DEBT_MAX_SATS */
  readonly debtMax: bigint;
  /** WITHDRAW_INPUTS_MAX */
  readonly inputsMax: number;
}

/** Sats for 1,000 virtual bytes. */
export interface FeeRates {
  readonly least: bigint;
  readonly usual: bigint;
}
