import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type ClusterLimits, defaultClusterLimits } from '#orders/sending/node-standing.ts';
import type { MempoolPackage } from './mempool-package.ts';

/**
 * The current size of a cluster, and the limits: numbers of transactions that depend on each other, and their virtual
 * bytes.
 */
export interface PackageRoom {
  readonly taken: ClusterLimits;
  readonly limits: ClusterLimits;
}

/**
 * Error code RPC_METHOD_NOT_FOUND. Nodes before Bitcoin Core 31 have no clusters. They limit ancestors and descendants.
 */
const unknownMethod = -32_601;

/**
 * Reads how much room the node has for a child of a package. Throws the codes of NodeRpc.
 *
 * @param limits limits of clusters, as the node reports them
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

/**
 * Computes the current size for nodes that limit chains. A child has all transactions as ancestors, and is one more
 * descendant of each of them. Pure.
 */
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

/** Explains in a sentence for people why a child of this size does not fit. Returns null if the child fits. Pure. */
export function whyNoRoom({ taken, limits }: PackageRoom, virtualBytes: number): string | null {
  if (taken.count + 1 > limits.count)
    return `${taken.count} unconfirmed transactions already depend on each other, but the node accepts at most ${limits.count}. Wait until some of them are in a block.`;
  if (taken.virtualBytes + virtualBytes <= limits.virtualBytes) return null;
  return `The unconfirmed transactions that depend on each other already have ${taken.virtualBytes} virtual bytes. With this child of ${virtualBytes} they would exceed the ${limits.virtualBytes} that the node accepts. Wait until some of them are in a block.`;
}
