import type { SaleForm } from '#kernel/sales/sale-names.ts';
import { feeOutputMin, feePartMax, opReturn } from './sale-rules.ts';
import type { InputRow, TradeFacts } from './trade-facts.ts';

/** What the place of a pair in its transaction says. */
export interface Layout {
  readonly form: SaleForm & ('openordex' | 'two-dummies' | 'bulk' | 'pair');
  /** The payout includes the sats of the item's output: the price is what it pays beyond them. */
  readonly isPostageReturned: boolean;
  readonly feeOutput: number | null;
}

/** The layout of a sale whose pair is at `input`. */
export function layoutOf(facts: TradeFacts, input: number): Layout {
  const { pairRow } = facts;
  const form = knownForm(facts, pairRow, input);
  if (form === null) return { form: 'pair', isPostageReturned: true, feeOutput: null };
  if (form === 'openordex') return { form, isPostageReturned: false, feeOutput: null };
  const [first = input] = pairRow.inputs;
  return { form, isPostageReturned: true, feeOutput: feeOutputOf(facts, first + pairRow.inputs.length) };
}

/** Whether what an input holds is laid out as marketplaces lay purchases out, whatever is signed. */
export function isPurchaseLayout(facts: TradeFacts, input: number): boolean {
  return knownForm(facts, facts.itemRow, input) !== null;
}

/** The marketplace layout in which an input is one of a row: every item lands before the row, in an output of its own. */
function knownForm(
  facts: TradeFacts,
  { inputs, isRow }: InputRow,
  input: number,
): Exclude<Layout['form'], 'pair'> | null {
  if (!isRow) return null;
  const [first = input] = inputs;
  const count = inputs.length;
  const landsAt = facts.movesOf(input)[0]?.landing;
  if (count === 1 && input === 1 && landsAt === 0) return 'openordex';
  // n + 1 dummies before n items; their sats and the items come out in one output more than there are items
  if (first !== count + 1 || landsAt !== input - count) return null;
  return count === 1 ? 'two-dummies' : 'bulk';
}

/**
 * The output after the pairs, if it is a fee: it pays no one who buys or sells, and it is a small part of the prices. The
 * change of a buyer at a new address looks the same, so another output must be the change: one behind it that is no
 * dummy. New dummies are no fee: there are two or more, and change often goes to their address.
 */
function feeOutputOf(facts: TradeFacts, at: number): number | null {
  const { inputScripts, landings, tx } = facts;
  const output = tx.outputs[at];
  if (output === undefined || output.script.startsWith(opReturn)) return null;
  const isSmall = output.value >= feeOutputMin && output.value <= facts.pairPrices * feePartMax;
  if (!isSmall || facts.lastChange <= at) return null;
  const isKnown = inputScripts.has(output.script) || facts.paidAgain.has(output.script);
  return isKnown || landings.has(at) ? null : at;
}
