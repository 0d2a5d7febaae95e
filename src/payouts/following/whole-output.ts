import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import type { Payout } from '#payouts/payout/payout.ts';
import type { WholeOutput } from '#payouts/planning/plan-payout.ts';
import { readAsideCoin } from '#purse/coins/coins.store.ts';

/**
 * The output that a payout sends as a whole. null: the payout sends no such output. `gone`: the output is not an
 * unspent output of a block.
 */
export async function wholeOutput(
  { client, node }: { readonly client: pg.ClientBase; readonly node: NodeRpc },
  { spends }: Pick<Payout, 'spends'>,
): Promise<WholeOutput | null | 'gone'> {
  if (spends === null) return null;
  const whole = await readAsideCoin(client, spends);
  return whole !== null && (await isUnspent(node, whole, { mempool: false })) ? whole : 'gone';
}
