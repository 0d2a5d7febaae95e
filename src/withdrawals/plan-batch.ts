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
  WithdrawalWait,
} from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';

/** Facts of a batch, as they were read. */
export interface PlannedParts {
  readonly withdrawals: readonly PricedWithdrawal[];
  readonly coins: readonly WithdrawalCoin[];
  /** Coins that those before it spend: so only one of them is ever mined. */
  readonly kept: readonly WithdrawalCoin[];
  readonly change: Uint8Array;
  readonly limits: WithdrawalLimits;
}

/** The rate that was asked for, else the node's. Null: it is above what is sent. */
export function batchRate({ payout, standing }: Pick<MadeBatch, 'payout' | 'standing'>): bigint | null {
  const rate = largest(payout.feeRate ?? refundFeeRate(standing), standing.mempoolMinFeeRate);
  return rate > payoutFeeRateMax ? null : rate;
}

/**
 * Coins that a batch may spend. One at a rate below the usual, which is never bumped, spends coins of its own accounts
 * alone: it would keep what others need for days.
 */
export function spendableCoins(
  coins: readonly WithdrawalCoin[],
  { payout: { feeRate }, standing }: Pick<MadeBatch, 'payout' | 'standing'>,
): readonly WithdrawalCoin[] {
  const isSlow = feeRate !== null && feeRate < refundFeeRate(standing);
  return isSlow ? coins.filter(({ owner }) => owner !== null) : coins;
}

/** Plans with coins that the node has unspent: another wallet may have the seed. */
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

/** The fee that a plan must exceed, by the rules of the node. */
export const replacedFee = (
  { fee, virtualBytes }: PayoutTransaction,
  incrementalFeeRate: bigint,
): WithdrawalBatch['replaced'] => ({ fee, virtualBytes, incrementalFeeRate });

/** The weight of the largest transaction: that of a payout. */
export const weightMax = payoutVirtualBytesMax * 4;

/** Why nothing of a batch can be sent now, for people. */
export function waitingReason({ waiting, refused }: PlannedBatch): string {
  const [first] = waiting;
  if (first === undefined) {
    const codes = [...new Set(refused.map(({ refusal }) => refusal.code))].join(', ');
    return `Nothing of it can be sent as it is (${codes}).`;
  }
  return waitingWords(first.wait);
}

export function waitingWords(wait: WithdrawalWait): string {
  switch (wait.code) {
    case 'coins':
      return `No coin of accounts is free for ${wait.missing} ${wait.asset === 'sats' ? 'sats' : 'base units'} of it: a block brings change of earlier withdrawals.`;
    case 'inputs':
      return 'Coins of accounts that are free are too small for it (WITHDRAW_INPUTS_MAX): it waits for larger change of others.';
    case 'runestone':
    case 'weight':
      return 'Its batch is full: it waits for the next one.';
  }
}
