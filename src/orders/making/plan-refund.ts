import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { withHoldings } from '#orders/inscribing/plan-holdings.ts';
import { type Arrived, type OwnDestination, spent } from '#orders/inscribing/plan-transactions.ts';
import { usualFeeRate } from '#orders/sending/node-standing.ts';

/**
 * An output of the wallet with customers' money. Either the whole output belongs to the customer, or only the excess of
 * a payment does.
 */
export interface OwedOutput extends Arrived {
  /**
   * Sats of the output that belong to the customer. The remaining value of the output is either 0 or at least P2TR's
   * dust limit.
   */
  readonly owed: bigint;
}

/**
 * Maximum number of outputs that one refund spends. The next refund spends the other outputs in a later round, with the
 * next block at the latest. The limit is needed because anyone may pay an address many times. 1,740 inputs of 230
 * weight units exceed what nodes relay, and signing takes milliseconds for each input.
 */
export const refundedAtOnce = 100;

/** The reason why no refund is made now, for people. */
export const owedTooLittle = 'The owed amount is smaller than the fee to send it.';

/**
 * Plans the transaction that refunds the owed sats of these outputs, less its fee. Our part of the outputs stays with
 * the wallet. Omits outputs that cost more to spend than they owe. If there are too many outputs, the smaller outputs
 * wait. Returns null if the refund would be dust. Pure.
 *
 * @param kept destination of our part
 * @param feeRate sats per 1,000 virtual bytes
 */
export function planRefund(
  outputs: readonly OwedOutput[],
  script: Uint8Array,
  kept: OwnDestination,
  feeRate: bigint,
): TransactionPlan | null {
  const worth = mostOwed(outputs.filter(({ owed }) => owed > (inputVirtualBytes * feeRate) / 1000n));
  if (worth.length === 0) return null;
  const inputs = worth.map((output) => spent(output, 'key'));
  const owed = worth.reduce((sum, output) => sum + output.owed, 0n);
  const ours = valueOf(inputs) - owed;
  const change: readonly PlannedOutput[] = ours === 0n ? [] : [{ kind: 'change', value: ours, ...kept }];
  const fee = feeOf(plannedWeight({ inputs, outputs: [{ script }, ...change] }), feeRate);
  const value = owed - fee;
  if (value < BigInt(dustOf(script))) return null;
  const plan: TransactionPlan = {
    version: 2,
    lockTime: 0,
    inputs,
    outputs: [{ kind: 'refund', script, value }, ...change],
    feeMax: fee,
  };
  // inscriptions are never part of a refund, but runes go with the money
  const sent = worth.map(({ holds }, input) => ({
    input,
    holds: { inscriptions: [], runes: holds?.runes ?? null },
    output: 0,
    runesTo: 0,
  }));
  return withHoldings(plan, { sent, rest: 0 });
}

/** Outputs of one refund, in the sequence of their arrival, because special sats are returned in that sequence. */
function mostOwed(outputs: readonly OwedOutput[]): readonly OwedOutput[] {
  if (outputs.length <= refundedAtOnce) return outputs;
  const most = new Set(outputs.toSorted((a, b) => Number(b.owed - a.owed)).slice(0, refundedAtOnce));
  return outputs.filter((output) => most.has(output));
}

/**
 * Whether this number of sats can ever be refunded. A smaller amount stays owed, because every node must relay a
 * refund.
 */
export function isWorthRefunding(owed: bigint, script: Uint8Array): boolean {
  const weight = plannedWeight({
    inputs: [{ path: 'key', leafScript: null, script }],
    outputs: [{ script }],
  });
  return owed - feeOf(weight, usualFeeRate) >= BigInt(dustOf(script));
}

const inputVirtualBytes = BigInt(virtualSize(keyInputWeight));
