import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';

/**
 * Whether the node's best chain has this output unspent. With `mempool`, transactions in the node's mempool are also
 * treated as spending.
 */
export async function isUnspent(
  node: NodeRpc,
  { txid, vout }: { readonly txid: Txid; readonly vout: number },
  { mempool }: { readonly mempool: boolean },
): Promise<boolean> {
  return (await node.call<unknown>('gettxout', [displayHash(txid), vout, mempool])) !== null;
}
