import assert from 'node:assert/strict';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { withdrawalFault } from './withdrawal-fault.ts';
import { layOut } from './withdrawal-layout.ts';
import type {
  Consolidation,
  ConsolidationRequest,
  WithdrawalCoin,
  WithdrawalPlan,
} from './withdrawal-plan.ts';

/**
 * The transaction that joins coins which usually cost more than they bring, as long as fees are low and the operator's
 * budget pays for it. All sats and units go to the change. It joins as many as limits and budget allow, in the given
 * order. Pure, total. Costs O(coins).
 */
export function planConsolidation(request: ConsolidationRequest): Consolidation {
  const { coins, feeRate, feeRateMax, usualFeeRate, budget, inputsMin, limits } = request;
  if (feeRate > feeRateMax || feeRate >= usualFeeRate) return none('rate');
  const poor = coins.filter(({ script, value }) => value <= feeOf(keyInputWeightOf(script), usualFeeRate));
  const most = poor.slice(0, limits.inputsMax);
  if (most.length < inputsMin) return none('coins');
  for (let count = most.length; count >= inputsMin; ) {
    const plan = joined(request, most.slice(0, count));
    if (plan === null) return none('sats');
    if (plan.fee <= budget && plan.weight <= limits.weightMax) return { kind: 'plan', plan };
    // the fee grows by the same for each coin, so this is at most a few coins from the right count
    const part = Number((BigInt(count) * budget) / plan.fee);
    count = Math.min(count - 1, Math.max(part, 0));
  }
  return none('budget');
}

const none = (reason: 'rate' | 'coins' | 'budget' | 'sats'): Consolidation => ({ kind: 'none', reason });

/** Joins these coins, and the largest other one where they lack the sats for the fee and the change. */
function joined(request: ConsolidationRequest, coins: readonly WithdrawalCoin[]): WithdrawalPlan | null {
  const rules = { ...request, replaced: null };
  const isJoined = new Set(coins);
  const alone = layOut({ inputs: coins, withdrawals: [] }, rules);
  const largest = request.coins.reduce<WithdrawalCoin | null>(
    (best, coin) => (isJoined.has(coin) || (best !== null && best.value >= coin.value) ? best : coin),
    null,
  );
  const plan =
    alone ?? (largest === null ? null : layOut({ inputs: [...coins, largest], withdrawals: [] }, rules));
  if (plan === null) return null;
  const fault = withdrawalFault(
    plan,
    plan.inputs.map(({ runes }) => runes),
    { ...request.limits, weightMax: Number.MAX_SAFE_INTEGER },
  );
  assert(fault === null, `a plan that joins coins: ${fault}`);
  return plan;
}
