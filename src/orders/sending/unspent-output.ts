import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';

/**
 * Whether this output is in the node's best chain and unspent there. With `mempool`, an output that a transaction in
 * the node's mempool spends is also treated as spent.
 */
export async function isUnspent(
  node: NodeRpc,
  { txid, vout }: { readonly txid: Txid; readonly vout: number },
  { mempool }: { readonly mempool: boolean },
): Promise<boolean> {
  return (await node.call<unknown>('gettxout', [displayHash(txid), vout, mempool])) !== null;
}
