import type { ClientBase } from 'pg';
import { lastRunWithSpent } from '#chain/blocks/coverage.queries.ts';
import { isBlockIndexed } from '#chain/blocks/index-tip.queries.ts';
import type { Tip } from '#kernel/contracts/search-engine.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

/** New blocks that any request reads: a millisecond or two. More is a walk, of a second for a million blocks. */
const newBlocksMax = 2_000;
const walkMs = 10_000;

/** The block from which on all sales are counted. */
export interface SaleCoverage {
  /** The first of them. Null: even those of the last block are unknown. */
  readonly from: Height | null;
}

interface Kept {
  /** Start of the run of blocks with known sales: above the last block, if that block has none. */
  readonly begins: number;
  readonly height: Height;
  readonly hash: BlockHash;
}

/**
 * Sales of a block are known if its spent outputs are. Sales of missing blocks, or of blocks without spent outputs, are
 * in no figure. So sums name the block from which on they are complete.
 */
export class SaleCoverages {
  #kept: Kept | null = null;

  /** @param mayWalk false: only kept results, and a few blocks; null if they do not suffice */
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

  /** The kept result of the chain of this snapshot. */
  async #keptBelow(client: ClientBase, height: Height): Promise<Kept | null> {
    const kept = this.#kept;
    if (kept === null || kept.height > height) return null;
    return (await isBlockIndexed(client, kept.height, Buffer.from(kept.hash))) ? kept : null;
  }
}

const coverageOf = ({ height, begins }: Kept): SaleCoverage => ({
  from: begins > height ? null : asHeight(begins),
});
