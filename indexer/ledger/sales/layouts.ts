import type { SaleForm } from '#kernel/sales/sale-names.ts';
import { feeOutputMin } from './sale-rules.ts';
import type { TradeFacts } from './trade-facts.ts';

/** What the place of a pair in its transaction says. */
export interface Layout {
  readonly form: SaleForm & ('openordex' | 'two-dummies' | 'bulk' | 'pair');
  /** The payout includes the sats of the item's output: the price is what it pays beyond them. */
  readonly isPostageReturned: boolean;
  readonly feeOutput: number | null;
}

/** The layout of a sale whose pair is at `input`. */
export function layoutOf(facts: TradeFacts, input: number): Layout {
  const { pairInputs, isRowOfPairs } = facts;
  const [first = input] = pairInputs;
  const count = pairInputs.length;
  const landsAt = facts.movesOf(input)[0]?.landing;
  // every item lands before the pairs, in outputs of its own
  if (isRowOfPairs) {
    if (count === 1 && input === 1 && landsAt === 0) {
      return { form: 'openordex', isPostageReturned: false, feeOutput: null };
    }
    // n + 1 dummies before n pairs; their sats and the items come out in one output more than there are pairs
    if (first === count + 1 && landsAt === input - count) {
      const form = count === 1 ? 'two-dummies' : 'bulk';
      return { form, isPostageReturned: true, feeOutput: feeOutputOf(facts, first + count) };
    }
  }
  return { form: 'pair', isPostageReturned: true, feeOutput: null };
}

/** The output behind the pairs, where it pays neither who buys nor who sells. */
function feeOutputOf(facts: TradeFacts, at: number): number | null {
  const { inputScripts, landings, tx } = facts;
  const output = tx.outputs[at];
  if (output === undefined || output.value < feeOutputMin) return null;
  const isKnown = inputScripts.has(output.script) || facts.firstOutput(output.script) < at;
  return isKnown || landings.has(at) ? null : at;
}
