import type { NodeRpc } from '#kernel/contracts/node.ts';
import { largest } from '#orders/inscribing/plan-amounts.ts';
import { refundFeeRate } from '#orders/sending/node-standing.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import type { MadeBatch } from '#payouts/following/payout-parts.ts';
import type { PayoutTransaction } from '#payouts/payout/payout.ts';
import { payoutFeeRateMax, payoutVirtualBytesMax } from '#payouts/planning/plan-payout.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { planWithdrawals } from '#tokenpay/withdrawing/planning/plan-withdrawals.ts';
import type {
  PlannedBatch,
  PricedWithdrawal,
  WithdrawalBatch,
  WithdrawalCoin,
  WithdrawalLimits,
  WithdrawalRefusal,
  WithdrawalWait,
} from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';

/** Facts of a batch at the time when they were read. */
export interface PlannedParts {
  readonly withdrawals: readonly PricedWithdrawal[];
  readonly coins: readonly WithdrawalCoin[];
  /**
   * Coins that the previous transactions spend. The plan spends them again, so that only one of these transactions can
   * be mined.
   */
  readonly kept: readonly WithdrawalCoin[];
  readonly change: Uint8Array;
  readonly limits: WithdrawalLimits;
}

/**
 * The fee rate of a batch: the requested rate, or the node's rate if no rate was requested. It is at least the minimum
 * of the node's mempool. `null` if the rate is above the maximum for sending.
 */
export function batchRate({ payout, standing }: Pick<MadeBatch, 'payout' | 'standing'>): bigint | null {
  const rate = largest(payout.feeRate ?? refundFeeRate(standing), standing.mempoolMinFeeRate);
  return rate > payoutFeeRateMax ? null : rate;
}

/**
 * Coins that a batch may spend. A batch below the usual fee rate is never bumped, so it spends only coins of its own
 * accounts. Otherwise it could block coins that other withdrawals need, for days.
 */
export function spendableCoins(
  coins: readonly WithdrawalCoin[],
  { payout: { feeRate }, standing }: Pick<MadeBatch, 'payout' | 'standing'>,
): readonly WithdrawalCoin[] {
  const isSlow = feeRate !== null && feeRate < refundFeeRate(standing);
  return isSlow ? coins.filter(({ owner }) => owner !== null) : coins;
}

/**
 * Plans with only those coins that are unspent according to the node, because another wallet may have the same seed.
 */
export async function planThere(
  node: NodeRpc,
  parts: PlannedParts,
  { standing, replaced }: Pick<MadeBatch, 'standing' | 'replaced'>,
  feeRate: bigint,
): Promise<PlannedBatch> {
  const kept = new Set(parts.kept.map(outpointOf));
  const asked = new Set<string>();
  let { coins } = parts;
  for (;;) {
    const batch: WithdrawalBatch = {
      ...parts,
      coins,
      feeRate,
      replaced: replaced === null ? null : replacedFee(replaced, standing.incrementalFeeRate),
    };
    const planned = planWithdrawals(batch);
    const gone = new Set<string>();
    for (const coin of planned.plan?.inputs ?? []) {
      const name = outpointOf(coin);
      if (asked.has(name) || kept.has(name)) continue;
      asked.add(name);
      if (!(await isUnspent(node, coin, { mempool: true }))) gone.add(name);
    }
    if (gone.size === 0) return planned;
    coins = coins.filter((coin) => !gone.has(outpointOf(coin)));
  }
}

/** The fee that a replacement must exceed according to the node's rules. */
export const replacedFee = (
  { fee, virtualBytes }: PayoutTransaction,
  incrementalFeeRate: bigint,
): WithdrawalBatch['replaced'] => ({ fee, virtualBytes, incrementalFeeRate });

/** Maximum weight of a transaction in weight units. It is the same as for a payout. */
export const weightMax = payoutVirtualBytesMax * 4;

/** The reason why nothing of a batch can be sent now, in words. */
export function waitingReason({ waiting, refused }: PlannedBatch): string {
  const [first] = waiting;
  if (first === undefined) {
    const words = [...new Set(refused.map(({ refusal }) => refusedWords(refusal.code)))].join(', ');
    return `No withdrawal of the batch can be sent, because ${words}.`;
  }
  return waitingWords(first.wait);
}

/** The reason why a withdrawal can never be sent in its present form, in words that continue a sentence. */
export function refusedWords(code: WithdrawalRefusal['code']): string {
  switch (code) {
    case 'amount':
      return 'its amount cannot be withdrawn';
    case 'destination':
      return 'its address cannot be paid';
    case 'dust':
      return 'its fee leaves its address less than nodes relay';
    case 'inputs':
      return 'it would spend more outputs than a withdrawal may (WITHDRAW_INPUTS_MAX)';
    case 'runestone':
    case 'weight':
      return 'its transaction would be larger than nodes relay';
    case 'own':
      return 'at its rate it spends only outputs that were paid to the account itself, and these outputs are not enough';
    case 'sats':
      return 'the account lacks sats for its fee';
  }
}

export function waitingWords(wait: WithdrawalWait): string {
  switch (wait.code) {
    case 'coins':
      return `No coin is free for ${wait.missing} ${wait.asset === 'sats' ? 'sats' : 'base units'} of the withdrawal, because earlier withdrawals spend the coins. It is sent once those withdrawals are in a block, because their change is free then.`;
    case 'inputs':
      return 'The free coins are too small: the withdrawal would spend more of them than it may (WITHDRAW_INPUTS_MAX). It waits for larger change of other withdrawals. To get a part of it sooner, cancel it and ask for smaller amounts.';
    case 'runestone':
    case 'weight':
      return 'The transaction of this batch is full. The withdrawal is sent with the next batch.';
  }
}
