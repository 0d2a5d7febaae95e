import { smallest } from '#kernel/bitcoin/amount.ts';
import { feeAt, feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import { largest, p2trDust } from '#orders/inscribing/plan-amounts.ts';
import type { PayoutShare } from '#payouts/payout/payout.ts';
import { payoutFeeRateMax, payoutVirtualBytesMax } from './plan-payout.ts';

/** Facts that decide how much revenue the operator can take out, in sats. */
export interface RevenueFacts {
  /** Balances in the ledger, over all subjects. */
  readonly service: bigint;
  readonly operator: bigint;
  /** Revenue in payouts that are not in a block. `unsigned` is the part in payouts that have no transaction yet. */
  readonly open: { readonly service: bigint; readonly operator: bigint };
  readonly unsigned: bigint;
  /** Values of free coins that are deep and proven to hold only sats. */
  readonly coins: readonly bigint[];
  /**
   * Earnings of partners, deep or not, less the payments in transactions that are not in a block. The sats of these
   * earnings are in the free coins.
   */
  readonly owed: bigint;
  /** The current fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

/** The amount that the operator can take out, and each part of its calculation. */
export interface RevenueSum {
  readonly earned: bigint;
  readonly free: bigint;
  readonly owed: bigint;
  readonly open: bigint;
  readonly unsigned: bigint;
  /** Sats that are kept for the fee, at twice the current rate, and for the change. */
  readonly reserve: bigint;
  readonly takeable: bigint;
}

/** Maximum number of inputs of a transaction with two outputs. */
const inputsMax = Math.floor((payoutVirtualBytesMax - 200) / (keyInputWeight / 4));

/**
 * Computes the revenue that the operator can take out. It is the value of free coins less the debt to partners. It is
 * at most the sats of the service and the operator in the ledger. Coins with a customer's money are never free. The fee
 * is not part of the result. Twice the current fee is kept, because fees may rise until the transaction is mined. Pure.
 */
export function revenueSum(facts: RevenueFacts): RevenueSum {
  const rate = smallest(largest(facts.feeRate, 1000n) * 2n, payoutFeeRateMax);
  const coins = facts.coins
    .filter((value) => value > feeOf(keyInputWeight, rate))
    .toSorted((a, b) => Number(b - a))
    .slice(0, inputsMax);
  const free = coins.reduce((sum, value) => sum + value, 0n);
  const script = new Uint8Array(34);
  const size = virtualSize(
    plannedWeight({ inputs: [], outputs: [{ script }, { script }] }) + coins.length * keyInputWeight,
  );
  const reserve = feeAt(size, rate) + p2trDust;
  const earned = facts.service + facts.operator;
  const open = facts.open.service + facts.open.operator;
  const takeable = largest(
    smallest(free - facts.owed - facts.unsigned - reserve, earned - open - reserve),
    0n,
  );
  return { earned, free, owed: facts.owed, open, unsigned: facts.unsigned, reserve, takeable };
}

/** The accounts that pay an amount of revenue. The service pays first, and the operator pays the rest. Pure. */
export function revenueShares(
  sats: bigint,
  { service, open }: Pick<RevenueFacts, 'service' | 'open'>,
  to: Pick<PayoutShare, 'script' | 'address'>,
): PayoutShare[] {
  const ofService = smallest(largest(service - open.service, 0n), sats);
  const parts = [
    { account: 'service', sats: ofService },
    { account: 'operator', sats: sats - ofService },
  ] as const;
  return parts.filter((part) => part.sats > 0n).map((part) => ({ ...part, owner: null, ...to }));
}
