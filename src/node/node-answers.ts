import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, parseBlockHashHex } from '#kernel/primitives/hash.ts';
import { genesisHeight, type Height, isHeight } from '#kernel/primitives/height.ts';

/** The fields of `getblockchaininfo` that are read. */
export interface ChainInfo {
  readonly chain: string;
  readonly blocks: Height;
  readonly bestblockhash: BlockHashHex;
  readonly isInitialBlockDownload: boolean;
  /** Lowest height whose block the node still has. Null if the node does not prune. */
  readonly pruneHeight: Height | null;
}

/** Requests `getblockchaininfo`. Throws like NodeRpc, and also `node_answer_invalid` if fields have other types. */
export async function askChainInfo(rpc: NodeRpc, signal?: AbortSignal): Promise<ChainInfo> {
  const answer = await rpc.call<unknown>('getblockchaininfo', [], signal === undefined ? {} : { signal });
  const { chain, blocks, bestblockhash, initialblockdownload, pruned, pruneheight } = fieldsOf(answer);
  const best = typeof bestblockhash === 'string' ? parseBlockHashHex(bestblockhash) : null;
  if (typeof chain !== 'string' || !isHeight(blocks) || best === null) {
    throw invalidAnswer(rpc, 'getblockchaininfo');
  }
  return {
    chain,
    blocks,
    bestblockhash: best,
    isInitialBlockDownload: initialblockdownload === true,
    pruneHeight: pruned === true ? (isHeight(pruneheight) ? pruneheight : genesisHeight) : null,
  };
}

/** The fields of an object. Returns no fields for any other value. */
export function fieldsOf(answer: unknown): Readonly<Record<string, unknown>> {
  return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
}

export const invalidAnswer = (rpc: NodeRpc, method: string): AppError =>
  new AppError('node_answer_invalid', `${rpc.url} does not answer ${method} like a bitcoind.`, { method });
