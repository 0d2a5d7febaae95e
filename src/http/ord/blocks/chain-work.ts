import type { ClientBase } from 'pg';
import { blockAt } from '#chain/blocks/block.queries.ts';
import { targetsBetween } from '#chain/blocks/header.queries.ts';
import { workOfBits } from '#kernel/bitcoin/proof-of-work.ts';

interface Checkpoint {
  readonly hash: Uint8Array;
  readonly work: bigint;
}

/**
 * The shortest interval between target changes on mainnet. A sum is kept for each: 470 of them at a million blocks.
 */
const interval = 2_016;

/**
 * The work of a chain that is indexed from its start: the sum over its headers. The first request reads all headers;
 * later ones read on from the nearest sum that still belongs to this chain.
 */
export class ChainWork {
  readonly #checkpoints = new Map<number, Checkpoint>();

  async at(client: ClientBase, height: number): Promise<bigint> {
    const last = Math.floor(height / interval) * interval;
    const base = await this.#baseAt(client, last);
    return base + (await sumBetween(client, last + 1, height));
  }

  /** The work up to a height that is a multiple of the interval. */
  async #baseAt(client: ClientBase, height: number): Promise<bigint> {
    for (let below = height; below >= 0; below -= interval) {
      const checkpoint = this.#checkpoints.get(below);
      if (checkpoint === undefined) continue;
      const block = await blockAt(client, { kind: 'height', height: below });
      if (block === null || Buffer.compare(block.hash, checkpoint.hash) !== 0) continue;
      if (below === height) return checkpoint.work;
      return this.#keep(client, height, checkpoint.work + (await sumBetween(client, below + 1, height)));
    }
    return this.#keep(client, height, await sumBetween(client, 0, height));
  }

  async #keep(client: ClientBase, height: number, work: bigint): Promise<bigint> {
    const block = await blockAt(client, { kind: 'height', height });
    if (block !== null) this.#checkpoints.set(height, { hash: block.hash, work });
    return work;
  }
}

async function sumBetween(client: ClientBase, from: number, to: number): Promise<bigint> {
  const targets = await targetsBetween(client, from, to);
  return targets.reduce((sum, { bits, blocks }) => sum + workOfBits(bits) * BigInt(blocks), 0n);
}
