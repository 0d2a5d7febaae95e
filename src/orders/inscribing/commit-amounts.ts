import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { frameWeight } from '#kernel/bitcoin/transaction-size.ts';
import type { RevealLayout } from './order-layout.ts';
import { type OrderRefusal, type OrderTerms, shortOf } from './order-terms.ts';
import { type Parts, p2trDust, p2trOutputWeight, spareOf, valueOf, weightWith } from './plan-amounts.ts';

/** What the outputs of a commit hold. */
export interface CommitAmounts {
  readonly kind: 'amounts';
  /** For each reveal, in order. */
  readonly reveals: readonly Pick<RevealLayout, 'committed' | 'feeInput'>[];
  /** The last output; null: there is none. */
  readonly change: bigint | null;
}

/**
 * An output for each reveal of a layout, with what that costs, and change from P2TR's dust on. More inputs than the
 * quote's one cost the service, out of its outputs of the reveals. Refuses with `payment-short` and what is missing.
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

/** All of them are the wallet's: P2TR, spent by key. */
function partsOf(inputs: number, reveals: readonly RevealLayout[]): Parts {
  const outputs = reveals.reduce((count, { feeInput }) => count + (feeInput === null ? 1 : 2), 0);
  return { inputs, outputs, weight: inputs * keyInputWeight + outputs * p2trOutputWeight };
}

/** The output of an inscription keeps its postage where another one pays. */
const withMoved = (
  { committed, feeInput }: RevealLayout,
  moved: bigint,
): Pick<RevealLayout, 'committed' | 'feeInput'> =>
  feeInput === null ? { committed: committed + moved, feeInput } : { committed, feeInput: feeInput + moved };

/** What each reveal gets more, or less out of our outputs. Null: they do not have as much. */
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
