import type { SaleForm } from '#kernel/sales/sale-names.ts';
import { feeOutputMin, feePartMax, opReturn } from './sale-rules.ts';
import type { InputRow, TradeFacts } from './trade-facts.ts';

/** Facts about the position of a pair in its transaction. */
export interface Layout {
  readonly form: SaleForm & ('openordex' | 'two-dummies' | 'bulk' | 'pair');
  /** True if the payout returns the sats of the item's output. The price is then the rest. */
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

/** Whether an input has the position that marketplaces give purchases, whatever is signed. */
export function isPurchaseLayout(facts: TradeFacts, input: number): boolean {
  return knownForm(facts, facts.itemRow, input) !== null;
}

/**
 * The marketplace layout with consecutive items, one of which is this input. Every item lands before the items'
 * indexes, in its own output.
 */
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
  // n + 1 dummies precede n items; the sats of dummies and items go to n + 1 outputs
  if (first !== count + 1 || landsAt !== input - count) return null;
  return count === 1 ? 'two-dummies' : 'bulk';
}

/**
 * The output after the pairs, if it is a fee: it pays neither a buyer nor a seller, and is a small part of the prices.
 * The change of a buyer at a new address looks the same, so a later output that is not a dummy must be the change. New
 * dummies are not a fee, because there are at least two, and change often goes to their address.
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
