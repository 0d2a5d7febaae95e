import type { ConsolidationPolicy } from './consolidating/consolidation-policy.ts';

/** Bounds of the operator for batches. */
export interface BatchPolicy {
  /** WITHDRAW_INPUTS_MAX */
  readonly inputsMax: number;
  /** WITHDRAW_BUMP_MAX_SATS */
  readonly bumpMax: bigint;
  /** WITHDRAW_DEBT_MAX_SATS */
  readonly debtMax: bigint;
  readonly consolidation: ConsolidationPolicy;
}
