import type pg from 'pg';
import { smallest } from '#kernel/bitcoin/amount.ts';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight, publicKeyHashInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { type NodeStanding, refundFeeRate } from '#orders/sending/node-standing.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import type { MadeBatch, PayoutParts } from '#payouts/following/payout-parts.ts';
import { consolidationFees } from '#payouts/payout/consolidations.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import {
  type ConsolidationRequest,
  joinCoins,
  joinedMax,
  planConsolidation,
} from '#tokenpay/withdrawing/planning/plan-consolidation.ts';
import type { WithdrawalPlan } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import { readPoorCoins } from '#tokenpay/withdrawing/poor-coins.queries.ts';
import { coinsWithRunes } from '#tokenpay/withdrawing/withdrawal-coins.ts';
import { isWithdrawalWaiting } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { spentCoins } from '#withdrawals/batch-facts.ts';
import { lackingSats } from '#withdrawals/covered.queries.ts';
import { batchRate, replacedFee } from '#withdrawals/plan-batch.ts';
import { type ConsolidationPolicy, poorFactor } from './consolidation-policy.ts';

/** A plan that joins coins, or the reason in words why there is no plan now. */
export type PlannedJoin = WithdrawalPlan | string;

type JoinParts = Pick<PayoutParts, 'client' | 'node' | 'confirmations'>;

/** Plans to join poor coins if fees are low, no withdrawal waits for coins, and the daily budget covers the cost. */
export async function planJoin(
  parts: JoinParts,
  standing: NodeStanding,
  change: Uint8Array,
  policy: ConsolidationPolicy,
): Promise<PlannedJoin> {
  const { client, node } = parts;
  const feeRate = lowRate(standing, policy);
  if (feeRate === null)
    return 'Fees are above CONSOLIDATE_FEE_RATE_MAX, or the node has no estimate. The consolidation waits for lower fees.';
  if (await isWithdrawalWaiting(client))
    return 'Withdrawals wait for coins. The consolidation is made after them.';
  const budget = await budgetLeft(client, policy);
  if (budget <= 0n) return noBudget;
  const poorFeeRate = policy.feeRateMax * poorFactor;
  const found = await readPoorCoins(client, {
    least: feeOf(keyInputWeight, feeRate),
    most: feeOf(publicKeyHashInputWeight, poorFeeRate),
    deep: await deepHeight(parts),
    budget,
    // twice as many coins as needed, because some are omitted: P2WPKH coins have a higher bound, and some coins contain
    // more than sats
    limit: 2 * joinedMax,
  });
  const coins = await coinsWithRunes(client, found);
  return joinThere(node, { coins, feeRate, poorFeeRate, budget, change });
}

const noBudget =
  'The last 24 hours cost CONSOLIDATE_DAILY_SATS, or base fees of completed orders do not cover more. The consolidation waits.';

/**
 * The present fee rate. `null` if the rate is too high or unknown. A transaction at a guessed rate could block its
 * coins for days.
 */
function lowRate(standing: NodeStanding, { feeRateMax }: ConsolidationPolicy): bigint | null {
  if (standing.estimate === null) return null;
  const rate = refundFeeRate(standing);
  return rate > feeRateMax ? null : rate;
}

/**
 * Maximum cost in sats of one more transaction. It is limited by the daily budget, and by the sats that coins of
 * accounts have beyond the amounts that the service owes to accounts.
 */
async function budgetLeft(client: pg.ClientBase, { dayMax }: ConsolidationPolicy): Promise<bigint> {
  return smallest(dayMax - (await consolidationFees(client)), -(await lackingSats(client)));
}

/**
 * Maximum height of a block that no reorganisation can remove. Only coins up to this height are joined, because a
 * removed coin would block all other coins of its transaction.
 */
async function deepHeight({ client, confirmations }: JoinParts): Promise<number> {
  return ((await readPaymentsOffset(client))?.height ?? 0) - confirmations + 1;
}

/**
 * Plans with only those coins that are unspent according to the node, because another wallet may have the same seed.
 */
async function joinThere(node: PayoutParts['node'], request: ConsolidationRequest): Promise<PlannedJoin> {
  const asked = new Set<string>();
  let { coins } = request;
  for (;;) {
    const planned = planConsolidation({ ...request, coins });
    if (planned.kind === 'none') return reasons[planned.reason];
    const gone = new Set<string>();
    for (const coin of planned.plan.inputs) {
      const name = outpointOf(coin);
      if (asked.has(name)) continue;
      asked.add(name);
      if (!(await isUnspent(node, coin, { mempool: true }))) gone.add(name);
    }
    if (gone.size === 0) return planned.plan;
    coins = coins.filter((coin) => !gone.has(outpointOf(coin)));
  }
}

const reasons = {
  coins:
    'Too few coins of accounts would cost more to spend than their value. The consolidation waits for more such coins.',
  budget: noBudget,
  sats: 'The coins to join have too few sats for the fee and the change. The consolidation waits for more coins.',
} as const;

/** Plans a transaction that joins the same coins at a higher fee, if the daily budget allows it. */
export async function planRaise(
  client: pg.ClientBase,
  { payout, standing, replaced }: MadeBatch & { readonly replaced: NonNullable<MadeBatch['replaced']> },
  change: Uint8Array,
  policy: ConsolidationPolicy,
): Promise<PlannedJoin> {
  const feeRate = batchRate({ payout, standing });
  if (feeRate === null)
    return 'Fees are above 200 sats per virtual byte. The consolidation waits for lower fees.';
  const coins = await spentCoins(client, replaced);
  if (coins === null) return 'The index does not yet know what the coins hold.';
  const rules = { feeRate, change, replaced: replacedFee(replaced, standing.incrementalFeeRate) };
  const plan = joinCoins(coins, rules);
  if (plan === null) return reasons.sats;
  return plan.fee - replaced.fee > (await budgetLeft(client, policy)) ? noBudget : plan;
}
