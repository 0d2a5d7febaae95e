import { bitcoinOf } from '#orders/customers/managed-answer.ts';
import type { PsbtPlan } from '#psbts/planning/psbt-plan.ts';

/** Warnings that apply to all burns. `isSpecial` means that the inscribed sat has a satribute. */
export const burnWarnings = (plan: Pick<PsbtPlan, 'outputs'>, isSpecial: boolean): readonly string[] => [
  ...(isSpecial ? ['The inscribed sat is itself a special sat, and is burned with the inscription.'] : []),
  howToSend(plan),
];

/**
 * Explains how to send a burn. Since version 25, Bitcoin Core refuses an OP_RETURN output with more sats than
 * `maxburnamount`, which is 0 by default. So the customer's wallet may fail to send the transaction after the customer
 * has signed it.
 */
function howToSend({ outputs }: Pick<PsbtPlan, 'outputs'>): string {
  const burned = outputs.filter(({ purpose }) => purpose === 'burn').map(({ value }) => value);
  const most = burned.reduce((a, b) => (a > b ? a : b), 0n);
  return `Nodes refuse burned sats by default, and wallets that send the transaction may do so as well. Send the transaction with sendrawtransaction and a maxburnamount of ${bitcoinOf(most)} (bitcoins).`;
}
