import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import type { Payout } from '#payouts/payout/payout.ts';
import type { WholeOutput } from '#payouts/planning/plan-payout.ts';
import { readAsideCoin } from '#purse/coins/coins.store.ts';

/**
 * Reads the output that a payout sends as a whole. Returns null if the payout sends no such output, and `gone` if the
 * output is not in a block or is spent.
 */
export async function wholeOutput(
  { client, node }: { readonly client: pg.ClientBase; readonly node: NodeRpc },
  { spends }: Pick<Payout, 'spends'>,
): Promise<WholeOutput | null | 'gone'> {
  if (spends === null) return null;
  const whole = await readAsideCoin(client, spends);
  return whole !== null && (await isUnspent(node, whole, { mempool: false })) ? whole : 'gone';
}
