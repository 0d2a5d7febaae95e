import { isUnspent } from '#orders/sending/unspent-output.ts';
import type { Payout } from '#payouts/payout/payout.ts';
import type { WholeOutput } from '#payouts/planning/plan-payout.ts';
import { readAsideCoin } from '#purse/coins/coins.store.ts';
import type { PayoutParts } from './make-payout.ts';

/** The output that a payout sends as a whole; null: it sends none. `gone`: no block has it unspent. */
export async function wholeOutput(
  { client, node }: Pick<PayoutParts, 'client' | 'node'>,
  { spends }: Pick<Payout, 'spends'>,
): Promise<WholeOutput | null | 'gone'> {
  if (spends === null) return null;
  const whole = await readAsideCoin(client, spends);
  return whole !== null && (await isUnspent(node, whole, { mempool: false })) ? whole : 'gone';
}
