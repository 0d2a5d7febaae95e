import type { SaleForm } from '#kernel/sales/sale-names.ts';
import { pairSignature } from './fitting-signatures.ts';
import type { MovingTransaction } from './moving-transaction.ts';
import { dummyMax, feeOutputMin } from './sale-rules.ts';

/** What the place of a pair in its transaction says. */
export interface Layout {
  readonly form: SaleForm & ('openordex' | 'two-dummies' | 'bulk' | 'pair');
  /** The payout includes the sats of the item's output: the price is what it pays beyond them. */
  readonly isPostageReturned: boolean;
  readonly feeOutput: number | null;
}

/** The layout of a sale whose pair is at `input`. */
export function layoutOf(tx: MovingTransaction, input: number): Layout {
  const pairs = [...tx.inputs.keys()].filter((at) => pairSignature(tx.inputs[at]!) !== undefined);
  const [first = input] = pairs;
  const count = pairs.length;
  // every item lands before the pairs, in outputs of its own
  const isRow = pairs.every((at, nth) => at === first + nth);
  const areDummies = tx.inputs.slice(0, first).every(({ value }) => value <= dummyMax);
  const landsAt = tx.moves.find((move) => move.input === input)?.landing;
  if (isRow && areDummies) {
    if (count === 1 && input === 1 && landsAt === 0) {
      return { form: 'openordex', isPostageReturned: false, feeOutput: null };
    }
    // n + 1 dummies before n pairs; their sats and the items come out in one output more than there are pairs
    if (first === count + 1 && landsAt === input - count) {
      const form = count === 1 ? 'two-dummies' : 'bulk';
      return { form, isPostageReturned: true, feeOutput: feeOutputOf(tx, first + count) };
    }
  }
  return { form: 'pair', isPostageReturned: true, feeOutput: null };
}

/** The output behind the pairs, where it pays neither who buys nor who sells. */
function feeOutputOf({ inputs, outputs, moves }: MovingTransaction, at: number): number | null {
  const output = outputs[at];
  if (output === undefined || output.value < feeOutputMin) return null;
  const known = new Set([
    ...inputs.map(({ script }) => script),
    ...outputs.slice(0, at).map(({ script }) => script),
  ]);
  return known.has(output.script) || moves.some(({ landing }) => landing === at) ? null : at;
}
