import assert from 'node:assert/strict';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { withdrawalFault } from './withdrawal-fault.ts';
import { type LayoutRules, layOut } from './withdrawal-layout.ts';
import type { WithdrawalCoin, WithdrawalLimits, WithdrawalPlan } from './withdrawal-plan.ts';

/**
 * Minimum number of coins to join in one transaction. The transaction makes two outputs, and its fixed parts cost as
 * much as two inputs.
 */
export const joinedLeast = 10;

/**
 * Maximum number of coins to join in one transaction. 200 coins have 12,000 virtual bytes, so the transaction fits into
 * a block at any time.
 */
export const joinedMax = 200;

export interface ConsolidationRequest {
  /** Free coins of accounts, in the sequence in which they should be joined. */
  readonly coins: readonly WithdrawalCoin[];
  /** The current fee rate, in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
  /** The fee rate at which the input of a poor coin costs more than the coin's value. */
  readonly poorFeeRate: bigint;
  /** Maximum cost of the transaction, in sats. */
  readonly budget: bigint;
  readonly change: Uint8Array;
}

export type Consolidation =
  | { readonly kind: 'plan'; readonly plan: WithdrawalPlan }
  /**
   * No plan is made. `coins`: there are too few poor coins. `budget`: the budget is enough for too few coins. `sats`:
   * the sats of the coins are not enough for the change.
   */
  | { readonly kind: 'none'; readonly reason: 'coins' | 'budget' | 'sats' };

/**
 * Plans a transaction that joins poor coins. A poor coin is worth more than its input costs now, but less than its
 * input costs when fees rise. All sats and units go to the change. Joins as many coins as the budget and `joinedMax`
 * allow. Pure, total. Costs O(coins).
 *
 * Asserts these invariants according to the rules of runes: all units go to the first change, nothing is burned, no sat
 * appears or disappears except the fee.
 */
export function planConsolidation(request: ConsolidationRequest): Consolidation {
  const { budget } = request;
  const poor = request.coins.filter((coin) => isPoor(coin, request)).slice(0, joinedMax);
  if (poor.length < joinedLeast) return none('coins');
  for (let count = poor.length; count >= joinedLeast; ) {
    const plan = joinCoins(poor.slice(0, count), { ...request, replaced: null });
    // the value of each coin is above the cost of its input, so fewer coins would leave even fewer sats
    if (plan === null) return none('sats');
    if (plan.fee <= budget) return { kind: 'plan', plan };
    // each coin adds about the same fee, so this count is at most a few coins too high
    count = Math.min(count - 1, Number((BigInt(count) * budget) / plan.fee));
  }
  return none('budget');
}

/** Whether a coin's value is above the cost of its input now, but not above the cost at the rate for poor coins. */
function isPoor(
  { script, value }: WithdrawalCoin,
  { feeRate, poorFeeRate }: Pick<ConsolidationRequest, 'feeRate' | 'poorFeeRate'>,
): boolean {
  const weight = keyInputWeightOf(script);
  return value > feeOf(weight, feeRate) && value <= feeOf(weight, poorFeeRate);
}

const none = (reason: 'coins' | 'budget' | 'sats'): Consolidation => ({ kind: 'none', reason });

/**
 * Plans the transaction that joins exactly these coins. Returns null if their sats are not enough for the fee and the
 * change. Pure.
 */
export function joinCoins(inputs: readonly WithdrawalCoin[], rules: LayoutRules): WithdrawalPlan | null {
  const plan = layOut({ inputs, withdrawals: [] }, rules);
  if (plan === null) return null;
  const held = plan.inputs.map(({ runes }) => runes);
  const fault = withdrawalFault(plan, held, limitsOf(plan));
  assert(fault === null, `a plan that joins coins: ${fault}`);
  return plan;
}

/** Limits for a plan that joins coins. The plan has no runestone, because it needs no edicts. */
export const limitsOf = ({ inputs, weight }: WithdrawalPlan): WithdrawalLimits => ({
  dataCarrierBytes: 0,
  inputsMax: inputs.length,
  weightMax: weight,
});
