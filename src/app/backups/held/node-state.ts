import type { NodeRpc } from '#kernel/contracts/node.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** State of the blocks, the mempool and the peers of the node, as the node reports it. */
export interface NodeState {
  readonly isInitialBlockDownload: boolean;
  readonly blocks: number;
  readonly headers: number;
  readonly isMempoolLoaded: boolean;
  readonly peers: number;
}

export async function readNodeState(node: NodeRpc): Promise<NodeState> {
  const { initialblockdownload, blocks, headers } = await node.call<{
    initialblockdownload: boolean;
    blocks: number;
    headers: number;
  }>('getblockchaininfo', []);
  const { loaded } = await node.call<{ loaded: boolean }>('getmempoolinfo', []);
  const { connections } = await node.call<{ connections: number }>('getnetworkinfo', []);
  return {
    isInitialBlockDownload: initialblockdownload,
    blocks,
    headers,
    isMempoolLoaded: loaded,
    peers: connections,
  };
}

/**
 * Why the node may lack blocks or transactions that other nodes have. Null if it has what it can have. A node of
 * regtest needs no peers. Pure.
 */
export function whyNodeLacks(state: NodeState, network: NetworkName): string | null {
  const { isInitialBlockDownload, blocks, headers, isMempoolLoaded, peers } = state;
  if (isInitialBlockDownload)
    return 'The node is still in its initial block download. Wait until it has all blocks.';
  if (blocks < headers)
    return `The node has block ${blocks}, and knows headers up to ${headers}. Wait until it has all blocks.`;
  if (!isMempoolLoaded)
    return 'The node is still loading its mempool from its disk. Wait until it has loaded its mempool.';
  if (peers === 0 && network !== 'regtest')
    return 'The node has no connections to other nodes, so it may lack blocks and transactions. Connect the node, and wait until it has all blocks.';
  return null;
}
