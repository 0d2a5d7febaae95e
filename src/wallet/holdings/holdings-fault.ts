import type { Holdings } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { inscriptionsFault } from './inscriptions-fault.ts';
import { runesFault } from './runes-fault.ts';

/**
 * The first inscription or rune that a plan would lose or send to another output than planned, in words. Returns null
 * if there is no such fault. Compares the plan's statement with the known contents of its inputs, and both with the
 * transaction itself.
 *
 * @param held contents by input, from the index or from earlier signed plans, and not from the maker of the plan
 */
export function holdingsFault(plan: TransactionPlan, held: readonly Holdings[]): string | null {
  if (held.length !== plan.inputs.length)
    return `it has ${plan.inputs.length} inputs, and the contents of ${held.length} are known`;
  return inscriptionsFault(plan, held) ?? runesFault(plan, held);
}
