import assert from 'node:assert/strict';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { withdrawalFault } from './withdrawal-fault.ts';
import { type LayoutRules, layOut } from './withdrawal-layout.ts';
import type { WithdrawalCoin, WithdrawalLimits, WithdrawalPlan } from './withdrawal-plan.ts';

/**
 * Least number of coins that one transaction joins: it makes two outputs, and its frame costs as much as two inputs.
 */
export const joinedLeast = 10;

/** Most coins that one transaction joins: 12,000 virtual bytes, which fit into a block at any rate. */
export const joinedMax = 200;

export interface ConsolidationRequest {
  /** Free coins of accounts, in the order in which they are joined. */
  readonly coins: readonly WithdrawalCoin[];
  /** Sats for 1,000 virtual bytes now. */
  readonly feeRate: bigint;
  /** The rate at which a poor coin costs more than it brings. */
  readonly poorFeeRate: bigint;
  /** The most sats that the transaction may cost. */
  readonly budget: bigint;
  readonly change: Uint8Array;
}

export type Consolidation =
  | { readonly kind: 'plan'; readonly plan: WithdrawalPlan }
  /** `coins`: too few are poor. `budget`: it pays for too few of them. `sats`: they do not pay for the change. */
  | { readonly kind: 'none'; readonly reason: 'coins' | 'budget' | 'sats' };

/**
 * The transaction that joins coins which cost more than they bring once fees rise, and less now. All sats and units go
 * to the change. It joins as many as budget and `joinedMax` allow. Pure, total. Costs O(coins).
 *
 * Invariants, asserted by the rules of runes: all units go to the first change, nothing is burned, no sat appears or
 * disappears except the fee.
 */
export function planConsolidation(request: ConsolidationRequest): Consolidation {
  const { budget } = request;
  const poor = request.coins.filter((coin) => isPoor(coin, request)).slice(0, joinedMax);
  if (poor.length < joinedLeast) return none('coins');
  for (let count = poor.length; count >= joinedLeast; ) {
    const plan = joinCoins(poor.slice(0, count), { ...request, replaced: null });
    // each coin brings more than it costs, so fewer coins have even less
    if (plan === null) return none('sats');
    if (plan.fee <= budget) return { kind: 'plan', plan };
    // the fee grows by about the same with each coin: this is at most a few coins above the right count
    count = Math.min(count - 1, Number((BigInt(count) * budget) / plan.fee));
  }
  return none('budget');
}

/** Whether a coin brings more than it costs now, and less at the rate of poor coins. */
function isPoor(
  { script, value }: WithdrawalCoin,
  { feeRate, poorFeeRate }: Pick<ConsolidationRequest, 'feeRate' | 'poorFeeRate'>,
): boolean {
  const weight = keyInputWeightOf(script);
  return value > feeOf(weight, feeRate) && value <= feeOf(weight, poorFeeRate);
}

const none = (reason: 'coins' | 'budget' | 'sats'): Consolidation => ({ kind: 'none', reason });

/** The transaction that joins exactly these coins. Null: their sats do not pay for fee and change. Pure. */
export function joinCoins(inputs: readonly WithdrawalCoin[], rules: LayoutRules): WithdrawalPlan | null {
  const plan = layOut({ inputs, withdrawals: [] }, rules);
  if (plan === null) return null;
  const held = plan.inputs.map(({ runes }) => runes);
  const fault = withdrawalFault(plan, held, limitsOf(plan));
  assert(fault === null, `a plan that joins coins: ${fault}`);
  return plan;
}

/** Bounds of a plan that joins coins. No edict moves anything, so it has no runestone. */
export const limitsOf = ({ inputs, weight }: WithdrawalPlan): WithdrawalLimits => ({
  dataCarrierBytes: 0,
  inputsMax: inputs.length,
  weightMax: weight,
});
