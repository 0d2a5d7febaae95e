import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { BytesToCome, type ComingBlocks } from './bytes-to-come.ts';

/** The blocks that a follower has applied so far. */
export interface AppliedBlocks {
  readonly blocks: number;
  readonly bytes: number;
}

/** The size of the remaining blocks of a load, for the estimate of its duration. */
export class LoadSizes {
  #load: { readonly blocksBefore: number; readonly count: number } | null = null;
  /** Sizes of the blocks in the same load. Null: unknown, or not read yet. */
  #toCome: BytesToCome | null = null;

  /**
   * Begins or continues a load. Reads sizes in the background. If the source has no sizes, the mean size of the applied
   * blocks is used.
   *
   * @param blocksBefore number of blocks that were applied before these
   */
  begin(source: BlockSource, coming: ComingBlocks, blocksBefore: number, signal: AbortSignal): void {
    if (this.#load !== null && blocksBefore - this.#load.blocksBefore < this.#load.count) return;
    const load = { blocksBefore, count: coming.count };
    this.#load = load;
    this.#toCome = null;
    void BytesToCome.sample(source, coming, signal).then(
      (toCome) => {
        if (this.#load === load) this.#toCome = toCome;
      },
      // ignore it: if the source fails, the load itself fails too
      () => undefined,
    );
  }

  /** Estimated bytes of the remaining blocks; null: unknown. */
  bytesLeft({ blocks, bytes }: AppliedBlocks, blocksLeft: number): number | null {
    if (blocksLeft === 0) return 0;
    const [load, toCome] = [this.#load, this.#toCome];
    if (load === null || toCome === null) return blocks === 0 ? null : (bytes / blocks) * blocksLeft;
    const done = blocks - load.blocksBefore;
    // a node's chain grows meanwhile; assume that new blocks are like its last blocks
    const grown = Math.max(0, done + blocksLeft - load.count);
    return toCome.after(done) + grown * toCome.after(load.count - 1);
  }
}
