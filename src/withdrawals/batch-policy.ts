import type { ConsolidationPolicy } from './consolidating/consolidation-policy.ts';

/** Bounds for batches, set by the operator. */
export interface BatchPolicy {
  /** The setting WITHDRAW_INPUTS_MAX. */
  readonly inputsMax: number;
  /** The setting WITHDRAW_BUMP_MAX_SATS. */
  readonly bumpMax: bigint;
  /** The setting WITHDRAW_DEBT_MAX_SATS. */
  readonly debtMax: bigint;
  readonly consolidation: ConsolidationPolicy;
}
