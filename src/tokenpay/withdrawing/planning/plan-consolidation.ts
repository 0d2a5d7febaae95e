import assert from 'node:assert/strict';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { withdrawalFault } from './withdrawal-fault.ts';
import { type LayoutRules, layOut } from './withdrawal-layout.ts';
import type { WithdrawalCoin, WithdrawalLimits, WithdrawalPlan } from './withdrawal-plan.ts';

/**
 * Minimum number of coins to join in one transaction. It makes two outputs, and its frame costs as much as two inputs.
 */
export const joinedLeast = 10;

/**
 * Maximum number of coins to join in one transaction. 200 coins have 12,000 virtual bytes, which fit into a block at
 * any rate.
 */
export const joinedMax = 200;

export interface ConsolidationRequest {
  /** Free coins of accounts, in the order in which they should be joined. */
  readonly coins: readonly WithdrawalCoin[];
  /** The present fee rate, in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /** The fee rate at which a poor coin costs more than it brings. */
  readonly poorFeeRate: bigint;
  /** Maximum cost of the transaction, in sats. */
  readonly budget: bigint;
  readonly change: Uint8Array;
}

export type Consolidation =
  | { readonly kind: 'plan'; readonly plan: WithdrawalPlan }
  /**
   * `coins`: too few coins are poor. `budget`: it pays for too few coins. `sats`: the coins' sats do not pay for the
   * change.
   */
  | { readonly kind: 'none'; readonly reason: 'coins' | 'budget' | 'sats' };

/**
 * Plans a transaction that joins poor coins. They cost less than they bring now, but will cost more once fees rise. All
 * sats and units go to the change. Joins as many coins as the budget and `joinedMax` allow. Pure, total. Costs
 * O(coins).
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
    // each coin brings more than it costs, so with fewer coins there are even fewer sats
    if (plan === null) return none('sats');
    if (plan.fee <= budget) return { kind: 'plan', plan };
    // the fee grows by about the same amount with each coin, so this is at most a few coins above the right number
    count = Math.min(count - 1, Number((BigInt(count) * budget) / plan.fee));
  }
  return none('budget');
}

/** Whether a coin brings more than it costs now, but no more than it costs at the rate of poor coins. */
function isPoor(
  { script, value }: WithdrawalCoin,
  { feeRate, poorFeeRate }: Pick<ConsolidationRequest, 'feeRate' | 'poorFeeRate'>,
): boolean {
  const weight = keyInputWeightOf(script);
  return value > feeOf(weight, feeRate) && value <= feeOf(weight, poorFeeRate);
}

const none = (reason: 'coins' | 'budget' | 'sats'): Consolidation => ({ kind: 'none', reason });

/** The transaction that joins exactly these coins. Returns null if their sats do not pay for fee and change. Pure. */
export function joinCoins(inputs: readonly WithdrawalCoin[], rules: LayoutRules): WithdrawalPlan | null {
  const plan = layOut({ inputs, withdrawals: [] }, rules);
  if (plan === null) return null;
  const held = plan.inputs.map(({ runes }) => runes);
  const fault = withdrawalFault(plan, held, limitsOf(plan));
  assert(fault === null, `a plan that joins coins: ${fault}`);
  return plan;
}

/** Bounds of a plan that joins coins. It has no runestone, because no edict moves anything. */
export const limitsOf = ({ inputs, weight }: WithdrawalPlan): WithdrawalLimits => ({
  dataCarrierBytes: 0,
  inputsMax: inputs.length,
  weightMax: weight,
});
