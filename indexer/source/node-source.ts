import type { Island } from '#kernel/contracts/block-source.ts';
import type { HeaderRef, LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { Retry } from '#kernel/retry.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import { headersOfOneMoment, isOfInvalidBranch, sizeAt, tipOf } from './node-chain.ts';
import { NodeNews } from './node-news.ts';

export interface NodeSourceOptions {
  /** First height of the source's chain. Default: the network's first height that can hold an inscription. */
  readonly firstHeight?: Height;
}

/**
 * How long a read is retried, in ms. It is enough for a broken connection or a quick restart of the node. After a
 * longer outage the caller decides, and gets the reason.
 */
const readBudgetMs = 5000;
/** The best chain of a node at the time of each call. */
export function openNodeSource(node: BitcoinNode, options: NodeSourceOptions = {}): LiveBlockSource {
  const { network } = node.facts;
  const firstHeight = options.firstHeight ?? networks[network].firstInscriptionHeight;
  const retry = new Retry({
    budgetMs: readBudgetMs,
    hasCookieFile: node.hasCookieFile,
  });
  const news = new NodeNews(node.blockMessages);
  const headers = (from: Height, count: number, signal?: AbortSignal): Promise<HeaderRef[]> =>
    retry.run(() => headersOfOneMoment(node, from, count, signal), signal);
  return {
    name: node.name,
    network,
    trusted: true,
    hasCookieFile: node.hasCookieFile,
    tip: (signal) => tipOf(node.rpc, signal),
    headers,
    refs: async (from = firstHeight) => {
      const lowest = from > firstHeight ? from : firstHeight;
      const all = await headers(lowest, Number.POSITIVE_INFINITY);
      return all.map(({ height, hash }) => ({ height, hash }));
    },
    islands: async (): Promise<Island[]> => {
      const { height } = await tipOf(node.rpc);
      return height < firstHeight ? [] : [{ firstHeight, lastHeight: height, start: {} }];
    },
    read: (ref, signal, buffers) =>
      retry.run(async () => {
        const readOptions = { signal, buffers };
        const [bytes, spent] = await Promise.all([
          node.block(ref.hash, readOptions),
          node.spentOutputs(ref.hash, readOptions),
        ]);
        return { ref, bytes, spentOutputs: spent.bytes, spentHeights: spent.heights };
      }, signal),
    sizeOf: (height, signal) => sizeAt(node.rpc, height, signal),
    isInvalid: (hash, signal) => isOfInvalidBranch(node.rpc, hash, signal),
    news: (timeoutMs, signal) => news.wait(timeoutMs, signal),
    close: async () => {
      news.close();
      await node.close();
    },
  };
}
