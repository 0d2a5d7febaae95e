import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { BytesToCome, type ComingBlocks } from './bytes-to-come.ts';

/** What a follower has applied so far. */
export interface AppliedBlocks {
  readonly blocks: number;
  readonly bytes: number;
}

/** The size of the blocks of a load that are still to come, for the time that it takes. */
export class LoadSizes {
  #load: { readonly blocksBefore: number; readonly count: number } | null = null;
  /** Of the same load; null: its sizes are unknown, or on their way. */
  #toCome: BytesToCome | null = null;

  /**
   * A load begins or goes on. Asks for sizes beside it; of a source without them, the mean of the blocks so far counts.
   *
   * @param blocksBefore applied before these
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
      // a failed source fails the load itself
      () => undefined,
    );
  }

  /** Null: unknown. */
  bytesLeft({ blocks, bytes }: AppliedBlocks, blocksLeft: number): number | null {
    if (blocksLeft === 0) return 0;
    const [load, toCome] = [this.#load, this.#toCome];
    if (load === null || toCome === null) return blocks === 0 ? null : (bytes / blocks) * blocksLeft;
    const done = blocks - load.blocksBefore;
    // a node's chain grows meanwhile by blocks like its last ones
    const grown = Math.max(0, done + blocksLeft - load.count);
    return toCome.after(done) + grown * toCome.after(load.count - 1);
  }
}
