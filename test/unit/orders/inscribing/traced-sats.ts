import type { PlannedInput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { valueOf } from '#orders/inscribing/plan-amounts.ts';
import { pointerOf, settleTerms } from '#orders/inscribing/settled-terms.ts';

/** A sat of a transaction, and the input that it comes from. */
export interface TracedSat {
  readonly input: PlannedInput;
  readonly at: number;
  readonly offset: bigint;
}

/** The sats that are inscribed by ord's rules: the first sat of the input, or the one that the pointer names. */
export function satsOf(
  terms: OrderTerms,
  { inputs }: TransactionPlan,
  count: number,
  first = 0,
): TracedSat[] {
  const leafAt = inputs.findIndex(({ path }) => path === 'leaf');
  const settled = settleTerms(terms);
  return Array.from({ length: count }, (_, place) =>
    satAt(inputs, pointerOf(settled, { first }, place) ?? valueOf(inputs.slice(0, leafAt))),
  );
}

/** Finds the input that contains a sat. The sat is given by the number of sats before it. */
export function satAt(inputs: readonly PlannedInput[], sat: bigint): TracedSat {
  const at = inputs.findIndex((_input, index) => sat < valueOf(inputs.slice(0, index + 1)));
  return { input: inputs[at]!, at, offset: sat - valueOf(inputs.slice(0, at)) };
}
