import type { Holdings } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';

/**
 * Adds contents to a plan that sends its first input as a whole to its first output. Inscriptions stay on their sats,
 * and no runestone moves runes elsewhere. Pure.
 */
export const withContents = (plan: TransactionPlan, { inscriptions, runes }: Holdings): TransactionPlan => ({
  ...plan,
  inscriptions: (inscriptions ?? []).map(({ id, offset }) => ({ id, at: offset, output: 0 })),
  runes: {
    held: (runes ?? []).map((rune) => ({ ...rune, input: 0 })),
    given: (runes ?? []).map((rune) => ({ ...rune, output: 0 })),
    burned: [],
    rest: 0,
    runestone: null,
  },
});
