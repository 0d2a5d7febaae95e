import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { withHoldings } from '#orders/inscribing/plan-holdings.ts';
import { type Arrived, type OwnDestination, spent } from '#orders/inscribing/plan-transactions.ts';
import { usualFeeRate } from '#orders/sending/node-standing.ts';

/** An output of the wallet that holds customers' money: all of it, or what was paid too much. */
export interface OwedOutput extends Arrived {
  /** Sats of it that are the customer's. What is not is at least P2TR's dust, or nothing. */
  readonly owed: bigint;
}

/**
 * Outputs that one refund spends; the next refund spends others, when the order is looked at again: with the next block
 * at the latest. Anybody may pay an address as often as they like: 1,740 inputs of 230 weight units are more than nodes
 * relay, and each takes milliseconds to sign.
 */
export const refundedAtOnce = 100;

/** Why there is no refund now, for people. */
export const owedTooLittle = 'What is owed is less than it costs to send it.';

/**
 * The transaction that pays what is owed of these outputs back, less its fee; what is ours of them stays ours. Outputs
 * that cost more to spend than is owed of them stay where they are, and of many the smaller ones for now. Null: what is left would be dust. Pure.
 *
 * @param kept where what is ours of them stays
 * @param feeRate sats for 1,000 virtual bytes
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
  // no inscription is money; runes go to whom the money goes
  const sent = worth.map(({ holds }, input) => ({
    input,
    holds: { inscriptions: [], runes: holds?.runes ?? null },
    output: 0,
    runesTo: 0,
  }));
  return withHoldings(plan, { sent, rest: 0 });
}

/** What one refund spends, in the order in which it came: special sats go back in theirs. */
function mostOwed(outputs: readonly OwedOutput[]): readonly OwedOutput[] {
  if (outputs.length <= refundedAtOnce) return outputs;
  const most = new Set(outputs.toSorted((a, b) => Number(b.owed - a.owed)).slice(0, refundedAtOnce));
  return outputs.filter((output) => most.has(output));
}

/** Whether so many sats can ever be sent back: no refund pays less than what every node relays. Less stays owed. */
export function isWorthRefunding(owed: bigint, script: Uint8Array): boolean {
  const weight = plannedWeight({
    inputs: [{ path: 'key', leafScript: null, script }],
    outputs: [{ script }],
  });
  return owed - feeOf(weight, usualFeeRate) >= BigInt(dustOf(script));
}

const inputVirtualBytes = BigInt(virtualSize(keyInputWeight));
