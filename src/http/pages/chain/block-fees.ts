import { LRUCache } from 'lru-cache';
import { blockStats, nodeSubsidy } from '#http/ord/blocks/block-stats.ts';
import type { NodeCalls } from '#http/ord/sources/node-calls.ts';
import { nodeFees } from '#http/ord/sources/node-questions.ts';
import type { RawBlocks } from '#http/ord/sources/raw-blocks.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { BlockReward } from '#web/pages/block.page.ts';
import { toldOrNull } from './chain-sources.ts';

/**
 * Maximum number of blocks with cached fees. The cache has a hash and a number for each block. The fees of a block
 * never change.
 */
const keptMax = 10_000;

interface Sources {
  readonly node: NodeCalls | null;
  readonly rawBlocks: RawBlocks;
  readonly network: NetworkName;
}

/** Rewards that blocks pay to their miners. */
export class BlockFees {
  readonly #sources: Sources;
  readonly #fees = new LRUCache<string, Sats>({ max: keptMax });

  constructor(sources: Sources) {
    this.#sources = sources;
  }

  /** The reward of a block. The fees are null if neither the node nor the block and its spent outputs are available. */
  async rewardOf(block: BlockRef, asker: Asker): Promise<BlockReward> {
    const name = displayHash(block.hash);
    const fees = this.#fees.get(name) ?? (await this.#ask(block, asker));
    if (fees !== null) this.#fees.set(name, fees);
    return { subsidy: nodeSubsidy(block.height, this.#sources.network), fees };
  }

  /**
   * Asks the node for the fees before the block is read, because the node's answer is one number, while the block has
   * megabytes.
   */
  async #ask(block: BlockRef, asker: Asker): Promise<Sats | null> {
    const { node, rawBlocks, network } = this.#sources;
    const told = node === null ? null : await toldOrNull(nodeFees(node.of(asker), displayHash(block.hash)));
    if (told !== null) return told;
    const raw = await toldOrNull(rawBlocks.read(block, asker));
    return raw === null ? null : (blockStats(raw, block.height, network)?.totalFee ?? null);
  }
}
