import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type ClusterLimits, defaultClusterLimits } from '#orders/sending/node-standing.ts';
import type { MempoolPackage } from './mempool-package.ts';

/** How many transactions depend on each other, and their virtual bytes: those that are there, and the most that may be. */
export interface PackageRoom {
  readonly taken: ClusterLimits;
  readonly limits: ClusterLimits;
}

/** RPC_METHOD_NOT_FOUND: nodes before Bitcoin Core 31 count ancestors and descendants, and have no clusters. */
const unknownMethod = -32_601;

/**
 * The room that the node has for a child of a package. Throws the codes of NodeRpc.
 *
 * @param limits of clusters, as the node tells them
 */
export async function packageRoom(
  node: NodeRpc,
  found: MempoolPackage,
  limits: ClusterLimits,
): Promise<PackageRoom> {
  try {
    const { clusterweight, txcount } = await node.call<{
      readonly clusterweight: number;
      readonly txcount: number;
    }>('getmempoolcluster', [found.last.txid]);
    return { taken: { count: txcount, virtualBytes: Math.ceil(clusterweight / 4) }, limits };
  } catch (error) {
    const isUnknown = error instanceof AppError && error.details['rpcCode'] === unknownMethod;
    if (!isUnknown) throw error;
    return { taken: fullestChain(found), limits: defaultClusterLimits };
  }
}

/** The child has all transactions as ancestors, and is one more descendant of each of them. Pure. */
function fullestChain({ transactions }: MempoolPackage): ClusterLimits {
  const own = {
    count: transactions.length,
    virtualBytes: transactions.reduce((sum, { virtualBytes }) => sum + virtualBytes, 0),
  };
  return transactions.reduce(
    (most, { descendants }) => ({
      count: Math.max(most.count, descendants.count),
      virtualBytes: Math.max(most.virtualBytes, descendants.virtualBytes),
    }),
    own,
  );
}

/** Why a child of this size does not fit, in a sentence for people. Null: it does. Pure. */
export function whyNoRoom({ taken, limits }: PackageRoom, virtualBytes: number): string | null {
  if (taken.count + 1 > limits.count)
    return `${taken.count} unconfirmed transactions depend on each other already, and the node takes ${limits.count} at most: wait until a block has some of them.`;
  if (taken.virtualBytes + virtualBytes <= limits.virtualBytes) return null;
  return `The unconfirmed transactions that depend on each other have ${taken.virtualBytes} virtual bytes already, and with this child of ${virtualBytes} they would be more than the ${limits.virtualBytes} that the node takes: wait until a block has some of them.`;
}
