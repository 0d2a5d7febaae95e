import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { frameWeight } from '#kernel/bitcoin/transaction-size.ts';
import type { RevealLayout } from './order-layout.ts';
import { type OrderRefusal, type OrderTerms, shortOf } from './order-terms.ts';
import { type Parts, p2trDust, p2trOutputWeight, spareOf, valueOf, weightWith } from './plan-amounts.ts';

/** Values of the outputs of a commit. */
export interface CommitAmounts {
  readonly kind: 'amounts';
  /** Values for each reveal, in the sequence of the reveals. */
  readonly reveals: readonly Pick<RevealLayout, 'committed' | 'feeInput'>[];
  /** Value of the change, which is the last output; null if there is no change. */
  readonly change: bigint | null;
}

/**
 * Plans an output for the cost of each reveal of a layout, and a change output if the change is not below the dust
 * limit of P2TR. The quote covers one input. The service pays for more inputs, from its outputs of the reveals. Refuses
 * with `payment-short` and the missing sats if that is not enough.
 */
export function commitAmounts(
  { feeRate }: Pick<OrderTerms, 'feeRate'>,
  reveals: readonly RevealLayout[],
  payments: readonly { readonly value: bigint }[],
): CommitAmounts | OrderRefusal {
  const needed = reveals.reduce((sum, { committed, feeInput }) => sum + committed + (feeInput ?? 0n), 0n);
  const parts = partsOf(payments.length, reveals);
  const left = valueOf(payments) - needed;
  const rest = left - feeOf(frameWeight(parts.inputs, parts.outputs) + parts.weight, feeRate);
  const change = left - feeOf(weightWith(parts, p2trOutputWeight), feeRate);
  if (change >= p2trDust) return { kind: 'amounts', reveals, change };
  const moved = spread(rest, reveals);
  if (moved === null) {
    const missing = -rest - reveals.reduce((sum, { own }) => sum + spareOf(own), 0n);
    return shortOf(missing, 'order');
  }
  const settled = reveals.map((reveal, index) => withMoved(reveal, moved[index] ?? 0n));
  return { kind: 'amounts', reveals: settled, change: null };
}

/**
 * Inputs and outputs of a commit. All of them belong to the wallet, so they are P2TR, and the inputs are spent by key.
 */
function partsOf(inputs: number, reveals: readonly RevealLayout[]): Parts {
  const outputs = reveals.reduce((count, { feeInput }) => count + (feeInput === null ? 1 : 2), 0);
  return { inputs, outputs, weight: inputs * keyInputWeight + outputs * p2trOutputWeight };
}

/**
 * Adds sats to the output that pays the fee of the reveal. If the separate `feeInput` pays the fee, the inscription's
 * own output keeps exactly its postage.
 */
const withMoved = (
  { committed, feeInput }: RevealLayout,
  moved: bigint,
): Pick<RevealLayout, 'committed' | 'feeInput'> =>
  feeInput === null ? { committed: committed + moved, feeInput } : { committed, feeInput: feeInput + moved };

/**
 * Number of sats to add to each reveal. A negative number is taken from our output of the reveal. Returns null if our
 * outputs do not have enough sats.
 */
function spread(rest: bigint, reveals: readonly RevealLayout[]): bigint[] | null {
  if (rest >= 0n) return [rest];
  let left = -rest;
  const moved = reveals.map(({ own }) => {
    const taken = left < spareOf(own) ? left : spareOf(own);
    left -= taken;
    return -taken;
  });
  return left === 0n ? moved : null;
}
