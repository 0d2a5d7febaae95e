import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { hasUnspentOutput, mempoolStanding } from '#orders/sending/mempool-standing.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';
import type { LiveBump } from './bump.store.ts';

/** Maximum number of parents in a package, in addition to the child (Bitcoin Core, MAX_PACKAGE_COUNT). */
const packageParentsMax = 24;

/**
 * Parents that are sent together with a bump. Empty if the mempool or blocks have all parents. If a parent is missing,
 * returns all unmined parents, including parents in the mempool. Before Bitcoin Core 30, a package must contain all
 * unconfirmed parents of its child.
 */
export async function parentsToSend(
  node: NodeRpc,
  { parents, plan }: Pick<LiveBump, 'parents' | 'plan'>,
): Promise<readonly Txid[]> {
  const spent = plan.inputs.map(({ outpoint }) => outpointParts(outpoint));
  const absent: Txid[] = [];
  const unmined: Txid[] = [];
  for (const parent of parents) {
    const id = displayHash(parent);
    if ((await mempoolStanding(node, parent)) !== null) {
      unmined.push(parent);
      continue;
    }
    // check only the outputs that the bump spends, because receivers may have spent the parent's other outputs
    const vouts = spent.filter(({ txid }) => displayHash(txid) === id).map(({ vout }) => vout);
    if (await hasUnspentOutput(node, parent, new Set(vouts))) continue;
    absent.push(parent);
    unmined.push(parent);
  }
  if (absent.length === 0) return [];
  // if there are too many, send only the missing parents, because newer versions of Bitcoin Core accept that
  return unmined.length > packageParentsMax ? absent : unmined;
}
