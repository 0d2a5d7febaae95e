import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import { hasUnspentOutput, mempoolStanding } from '#orders/sending/mempool-standing.ts';
import { outpointParts } from '#purse/transactions/outpoint.ts';
import type { LiveBump } from './bump.store.ts';

/** Parents in a package beside its child (Bitcoin Core, MAX_PACKAGE_COUNT). */
const packageParentsMax = 24;

/**
 * Parents that a bump is sent with: empty if the mempool or blocks have all of them. If one is missing, all unmined
 * ones, including those in the mempool: before Bitcoin Core 30 a package has all unconfirmed parents of its child.
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
    // its receivers may have spent its other outputs
    const vouts = spent.filter(({ txid }) => displayHash(txid) === id).map(({ vout }) => vout);
    if (await hasUnspentOutput(node, parent, new Set(vouts))) continue;
    absent.push(parent);
    unmined.push(parent);
  }
  if (absent.length === 0) return [];
  // later versions of Bitcoin Core take the missing ones alone
  return unmined.length > packageParentsMax ? absent : unmined;
}
