import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { PlannedInput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import type { FoundOutput } from './find-outputs.ts';

/**
 * Maximum number of inputs of one transaction. The work for signatures grows with the number of inputs, and nodes relay
 * at most 400,000 weight units.
 */
const inputsMax = 200;

export interface Sweep {
  readonly plans: readonly TransactionPlan[];
  /** Outputs that are not spent, because their inputs would cost more than their value. */
  readonly left: readonly FoundOutput[];
}

/**
 * Plans transactions that pay all these outputs to one destination, by key. The last input of each transaction is its
 * largest output. The fee comes from the end of this input. So no other output, which may hold an inscription, becomes
 * part of the fee. Pure.
 *
 * @param feeRate rate in sats per 1,000 virtual bytes
 */
export function sweep(outputs: readonly FoundOutput[], destination: Uint8Array, feeRate: bigint): Sweep {
  const isWorthIt = ({ script, value }: FoundOutput): boolean =>
    value > feeOf(keyInputWeightOf(script), feeRate);
  const taken = outputs.filter(isWorthIt).toSorted((a, b) => Number(b.value - a.value));
  const plans: TransactionPlan[] = [];
  const isTaken = new Set<FoundOutput>();
  for (const batch of batchesOf(taken)) {
    const plan = planOf(batch, destination, feeRate);
    if (plan === null) continue;
    plans.push(plan);
    for (const output of batch) isTaken.add(output);
  }
  return { plans, left: outputs.filter((output) => !isTaken.has(output)) };
}

/**
 * Divides outputs into batches. The largest outputs are spread over all batches, so that each batch has an output that
 * can pay the fee.
 */
function batchesOf(largestFirst: readonly FoundOutput[]): FoundOutput[][] {
  const count = Math.ceil(largestFirst.length / inputsMax);
  const batches = Array.from({ length: count }, (): FoundOutput[] => []);
  for (const [place, output] of largestFirst.entries()) batches[place % count]?.push(output);
  return batches;
}

function planOf(
  largestFirst: readonly FoundOutput[],
  destination: Uint8Array,
  feeRate: bigint,
): TransactionPlan | null {
  const inputs = largestFirst.toReversed().map(
    ({ own, script, txid, vout, value }): PlannedInput => ({
      ...own,
      script,
      txid,
      vout,
      value,
      sequence: replaceableSequence,
      path: 'key',
    }),
  );
  const refund = { kind: 'refund' as const, script: destination, value: 0n };
  const fee = feeOf(plannedWeight({ inputs, outputs: [refund] }), feeRate);
  const value = inputs.reduce((sum, input) => sum + input.value, 0n) - fee;
  const largest = inputs.at(-1)?.value ?? 0n;
  if (fee >= largest || value < BigInt(dustOf(destination))) return null;
  return { version: 2, lockTime: 0, inputs, outputs: [{ ...refund, value }], feeMax: fee };
}
