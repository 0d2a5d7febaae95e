import type { ClientBase } from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { targetsBetween } from '#chain/blocks/header.queries.ts';
import { workOfBits } from '#kernel/bitcoin/proof-of-work.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight, type Height } from '#kernel/primitives/height.ts';

interface Checkpoint {
  readonly hash: BlockHash;
  readonly work: bigint;
}

/**
 * Number of blocks between two stored sums. It is the interval between target changes on mainnet. A million blocks have
 * fewer than 500 sums.
 */
const interval = 2_016;

/**
 * Computes the work of a chain that is indexed from its start. It is the sum of the work of all headers. The first
 * request reads all headers. Later requests continue from the nearest stored sum that still belongs to this chain.
 */
export class ChainWork {
  readonly #checkpoints = new Map<Height, Checkpoint>();

  async at(client: ClientBase, height: Height): Promise<bigint> {
    const last = asHeight(Math.floor(height / interval) * interval);
    const base = await this.#baseAt(client, last);
    return base + (await sumBetween(client, asHeight(last + 1), height));
  }

  /** The work up to `height`, which is a multiple of the interval. */
  async #baseAt(client: ClientBase, height: Height): Promise<bigint> {
    for (let distance = 0; distance <= height; distance += interval) {
      const below = asHeight(height - distance);
      const checkpoint = this.#checkpoints.get(below);
      if (checkpoint === undefined) continue;
      const block = await blockAt(client, { kind: 'height', height: below });
      if (block === null || Buffer.compare(block.hash, checkpoint.hash) !== 0) continue;
      if (below === height) return checkpoint.work;
      const above = await sumBetween(client, asHeight(below + 1), height);
      return this.#keep(client, height, checkpoint.work + above);
    }
    return this.#keep(client, height, await sumBetween(client, genesisHeight, height));
  }

  async #keep(client: ClientBase, height: Height, work: bigint): Promise<bigint> {
    const block = await blockAt(client, { kind: 'height', height });
    if (block !== null) this.#checkpoints.set(height, { hash: block.hash, work });
    return work;
  }
}

async function sumBetween(client: ClientBase, from: Height, to: Height): Promise<bigint> {
  const targets = await targetsBetween(client, from, to);
  return targets.reduce((sum, { bits, blocks }) => sum + workOfBits(bits) * BigInt(blocks), 0n);
}
