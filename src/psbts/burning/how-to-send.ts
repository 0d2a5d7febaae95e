import { bitcoinOf } from '#orders/customers/managed-answer.ts';
import type { PsbtPlan } from '#psbts/planning/psbt-plan.ts';

/**
 * How a burn is sent, for its warnings. Bitcoin Core refuses an OP_RETURN output with more sats than `maxburnamount`, which
 * is 0 by default (from 25 on), so a wallet that sends by itself may fail after its customer signed.
 */
export function howToSend({ outputs }: Pick<PsbtPlan, 'outputs'>): string {
  const burned = outputs.filter(({ purpose }) => purpose === 'burn').map(({ value }) => value);
  const most = burned.reduce((a, b) => (a > b ? a : b), 0n);
  return `Nodes refuse burned sats by default, and so may a wallet that sends the transaction itself: send it with sendrawtransaction and a maxburnamount of ${bitcoinOf(most)} (bitcoins).`;
}
