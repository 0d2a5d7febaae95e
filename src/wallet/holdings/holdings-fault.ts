import type { Holdings } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { inscriptionsFault } from './inscriptions-fault.ts';
import { runesFault } from './runes-fault.ts';

/**
 * The first inscription or rune that a plan would lose or send to another output than it says, in words. Null: there is
 * no such fault. The plan's statement is compared to the known contents of its inputs, and both are compared to the
 * transaction itself.
 *
 * @param held by input, from the index or from what the wallet signed before: not from the maker of the plan
 */
export function holdingsFault(plan: TransactionPlan, held: readonly Holdings[]): string | null {
  if (held.length !== plan.inputs.length)
    return `it has ${plan.inputs.length} inputs, and the contents of ${held.length} are known`;
  return inscriptionsFault(plan, held) ?? runesFault(plan, held);
}
