import type { ClientBase } from 'pg';
import { lastRunWithSpent } from '#chain/blocks/coverage.queries.ts';
import { isBlockIndexed } from '#chain/blocks/index-tip.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

/**
 * Maximum number of new blocks that any request reads. Reading them takes a millisecond or two. Reading more is a walk,
 * which takes a second for a million blocks.
 */
const newBlocksMax = 2_000;
const walkMs = 10_000;

/** The blocks whose sales are all known, up to the last block. */
export interface SaleCoverage {
  /** Height of the first of these blocks. Null if even the sales of the last block are unknown. */
  readonly from: Height | null;
}

interface Kept {
  /**
   * Height from which on the sales of all blocks are known. It is above the last block if the sales of the last block
   * are unknown.
   */
  readonly begins: number;
  readonly height: Height;
  readonly hash: BlockHash;
}

/**
 * Finds the first block from which on sums of sales are complete. The sales of a block are known if its spent outputs
 * are known. Sums do not include the sales of missing blocks, or of blocks without spent outputs.
 */
export class SaleCoverages {
  #kept: Kept | null = null;

  /**
   * Reads the coverage up to a tip.
   *
   * @param mayWalk if false, only kept results and a few blocks are read; the result is null if they do not suffice
   */
  async read(client: ClientBase, { height, hash }: Tip, mayWalk: boolean): Promise<SaleCoverage | null> {
    const kept = await this.#keptBelow(client, height);
    if (kept?.height === height) return coverageOf(kept);
    if (height - (kept?.height ?? -1) > newBlocksMax) {
      if (!mayWalk) return null;
      await client.query(`SET LOCAL statement_timeout = ${walkMs}`);
    }
    const begins = (await lastRunWithSpent(client, kept?.height ?? -1, height)) ?? kept?.begins ?? height + 1;
    this.#kept = { height, hash, begins };
    return coverageOf(this.#kept);
  }

  /** The kept result, if it matches the chain of this snapshot. Returns null otherwise. */
  async #keptBelow(client: ClientBase, height: Height): Promise<Kept | null> {
    const kept = this.#kept;
    if (kept === null || kept.height > height) return null;
    return (await isBlockIndexed(client, kept.height, Buffer.from(kept.hash))) ? kept : null;
  }
}

const coverageOf = ({ height, begins }: Kept): SaleCoverage => ({
  from: begins > height ? null : asHeight(begins),
});
