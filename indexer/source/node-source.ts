import type { Island, SourceBlock } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import { Retry } from '#kernel/retry.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import type { ReadOptions } from '#node/bulk-reads.ts';
import { AnnouncedBlock } from './announced-block.ts';
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
  const headers: LiveBlockSource['headers'] = (from, count, signal, expected) =>
    retry.run(() => headersOfOneMoment(node, from, count, signal, expected), signal);
  const readBlock = async (hash: BlockHash, options: ReadOptions): Promise<Omit<SourceBlock, 'ref'>> => {
    const [bytes, spent] = await Promise.all([node.block(hash, options), node.spentOutputs(hash, options)]);
    return { bytes, spentOutputs: spent.bytes, spentHeights: spent.heights };
  };
  const announced = new AnnouncedBlock((hash, signal) => readBlock(hash, { signal }));
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
    read: async (ref, signal, buffers) => {
      const block =
        (await announced.take(ref.hash)) ??
        (await retry.run(() => readBlock(ref.hash, { signal, buffers }), signal));
      return { ref, ...block };
    },
    sizeOf: (height, signal) => sizeAt(node.rpc, height, signal),
    isInvalid: (hash, signal) => isOfInvalidBranch(node.rpc, hash, signal),
    news: async (timeoutMs, signal, isAtTip = false) => {
      // the caller has read the chain since the announcement, and did not ask for the block
      announced.forget();
      const connected = await news.wait(timeoutMs, signal);
      if (isAtTip && connected !== null) announced.read(connected, signal);
    },
    close: async () => {
      announced.forget();
      news.close();
      await node.close();
    },
  };
}
