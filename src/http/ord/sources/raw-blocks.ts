import { LRUCache } from 'lru-cache';
import { limits } from '#http/server/limits.ts';
import { doubleSha256 } from '#indexer/transaction/double-sha256.ts';
import { FairGate } from '#kernel/concurrency/fair-gate.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import type { BlockRef, BlockSource } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';

/** A raw block, with the outputs that it spends if the source has them. */
export interface RawBlock {
  readonly bytes: Uint8Array;
  readonly spentOutputs: Uint8Array | null;
}

/**
 * Maximum size of all cached blocks, in bytes. It is enough for 16 full blocks. Blocks are requested in bursts, for
 * example by an explorer's page, or by many viewers of one recursive inscription.
 */
const cachedBytesMax = 64 * 1024 * 1024;
/**
 * Maximum number of reads that run at once. Each read holds a block of up to 4 MB and its spent outputs in memory, and
 * the indexer uses the same source.
 */
const readsMax = 4;
/** Maximum number of waiting reads. It is enough for all requests that are being answered. */
const waitingMax = limits.requests;
/** How long a read waits at most, in ms. A request waits equally long for its own turn. */
const waitMs = 30_000;

/**
 * Raw blocks of the index. Concurrent requests for a block share one read, few reads run at once, and the cache is
 * bounded.
 */
export class RawBlocks {
  readonly #source: BlockSource | null;
  /** Cached blocks, by display hash. */
  readonly #cached = new LRUCache<string, RawBlock>({
    maxSize: cachedBytesMax,
    sizeCalculation: sizeOf,
  });
  readonly #reading = new Map<string, Promise<RawBlock | null>>();
  readonly #gate = new FairGate({
    running: readsMax,
    waiting: waitingMax,
    waitMs,
    refusal: () => new AppError('overloaded', 'too many blocks are being read; try again in a few seconds'),
  });

  constructor(source: BlockSource | null) {
    this.#source = source;
  }

  /**
   * Returns a block. Null if there is no source, or if the source does not have the block. Throws `block_corrupt` and
   * the error codes of the source.
   */
  async read(ref: BlockRef, asker: Asker): Promise<RawBlock | null> {
    const source = this.#source;
    if (source === null) return null;
    const name = displayHash(ref.hash);
    const known = this.#known(name);
    if (known !== undefined) return known;
    // another request may have read the block during the wait; a read in progress serves all waiting requests
    return this.#gate.run(asker, async () => this.#known(name) ?? this.#begin(source, ref, name));
  }

  #known(name: string): RawBlock | Promise<RawBlock | null> | undefined {
    return this.#cached.get(name) ?? this.#reading.get(name);
  }

  #begin(source: BlockSource, ref: BlockRef, name: string): Promise<RawBlock | null> {
    const read = this.#fetch(source, ref, name).finally(() => this.#reading.delete(name));
    this.#reading.set(name, read);
    return read;
  }

  async #fetch(source: BlockSource, ref: BlockRef, name: string): Promise<RawBlock | null> {
    try {
      const { bytes, spentOutputs } = await source.read(ref);
      if (!doubleSha256(bytes.subarray(0, 80)).equals(ref.hash))
        throw new AppError('block_corrupt', `the block at height ${ref.height} is not ${name}`);
      const block = { bytes, spentOutputs };
      this.#cached.set(name, block);
      return block;
    } catch (error) {
      if (error instanceof AppError && error.code === 'block_unavailable') return null;
      throw error;
    }
  }
}

// count the length of the entire buffer, because a view keeps its entire buffer in memory
function sizeOf({ bytes, spentOutputs }: RawBlock): number {
  return bytes.buffer.byteLength + (spentOutputs?.buffer.byteLength ?? 0);
}
