import type { NodeRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/** The fields of `getblockchaininfo` that are read. */
export interface ChainInfo {
  readonly chain: string;
  readonly blocks: number;
  readonly bestblockhash: string;
  readonly isInitialBlockDownload: boolean;
  /** Lowest height whose block is kept. Null: the node does not prune. */
  readonly pruneHeight: number | null;
}

/** Throws as NodeRpc does, and `node_answer_invalid` for fields of other types. */
export async function askChainInfo(rpc: NodeRpc, signal?: AbortSignal): Promise<ChainInfo> {
  const answer = await rpc.call<unknown>('getblockchaininfo', [], signal === undefined ? {} : { signal });
  const { chain, blocks, bestblockhash, initialblockdownload, pruned, pruneheight } = fieldsOf(answer);
  const isValid =
    typeof chain === 'string' &&
    isHeight(blocks) &&
    typeof bestblockhash === 'string' &&
    /^[0-9a-f]{64}$/u.test(bestblockhash);
  if (!isValid) throw invalidAnswer(rpc, 'getblockchaininfo');
  return {
    chain,
    blocks,
    bestblockhash,
    isInitialBlockDownload: initialblockdownload === true,
    pruneHeight: pruned === true ? (isHeight(pruneheight) ? pruneheight : 0) : null,
  };
}

/** The fields of an object; none for anything else. */
export function fieldsOf(answer: unknown): Readonly<Record<string, unknown>> {
  return typeof answer === 'object' && answer !== null ? (answer as Record<string, unknown>) : {};
}

export const invalidAnswer = (rpc: NodeRpc, method: string): AppError =>
  new AppError('node_answer_invalid', `${rpc.url} does not answer ${method} as a bitcoind does.`, { method });

function isHeight(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;
}
