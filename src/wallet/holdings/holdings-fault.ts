import type { Holdings } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { inscriptionsFault } from './inscriptions-fault.ts';
import { runesFault } from './runes-fault.ts';

/**
 * Finds the first inscription or rune that a plan would lose or send to the wrong output. Returns the fault in words,
 * or null if there is no fault. Compares the plan's contents with the known contents of its inputs, and compares both
 * with the transaction itself.
 *
 * @param held contents by input, which come from the index or from earlier signed plans, and not from the planner
 */
export function holdingsFault(plan: TransactionPlan, held: readonly Holdings[]): string | null {
  if (held.length !== plan.inputs.length)
    return `it has ${plan.inputs.length} inputs, and the contents of ${held.length} are known`;
  return inscriptionsFault(plan, held) ?? runesFault(plan, held);
}
