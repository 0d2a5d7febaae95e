import type { NodeRpc } from '#kernel/contracts/node.ts';
import { asBlockHashHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { ListedOutput } from './utxo.ts';

/** Hash and time of the block of an output. */
export type BlockOfOutput = Pick<ListedOutput, 'blockHash' | 'blockTime'>;

/** The block at a height of the node's chain. */
export async function blockAt(node: NodeRpc, height: Height): Promise<BlockOfOutput> {
  const blockHash = asBlockHashHex(await node.call<string>('getblockhash', [height]));
  const { time: blockTime } = await node.call<{ readonly time: number }>('getblockheader', [blockHash]);
  return { blockHash, blockTime };
}
