import type { SourceBlock } from '#kernel/contracts/block-source.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';

type Bytes = Omit<SourceBlock, 'ref'>;

interface Reading {
  readonly hash: BlockHash;
  readonly block: Promise<Bytes | null>;
  readonly controller: AbortController;
}

/**
 * The block that a node announced last. It is read at once, while the follower still compares headers. At most one
 * block is read or kept, so it takes no more memory than a block of the look-ahead.
 */
export class AnnouncedBlock {
  readonly #read: (hash: BlockHash, signal: AbortSignal) => Promise<Bytes>;
  #reading: Reading | null = null;
  /** The block that the follower asked for last. Its announcement may arrive later. */
  #lastAsked: BlockHash | null = null;

  constructor(read: (hash: BlockHash, signal: AbortSignal) => Promise<Bytes>) {
    this.#read = read;
  }

  /**
   * Begins to read a block, unless the follower has just asked for this block. Forgets the block before it. A failure
   * shows when the follower itself reads the block.
   */
  read(hash: BlockHash, signal: AbortSignal): void {
    this.forget();
    if (this.#lastAsked !== null && Buffer.compare(this.#lastAsked, hash) === 0) return;
    const controller = new AbortController();
    const either = AbortSignal.any([signal, controller.signal]);
    this.#reading = { hash, block: this.#read(hash, either).catch(() => null), controller };
  }

  /** Ends the read, and drops the block. */
  forget(): void {
    this.#reading?.controller.abort();
    this.#reading = null;
  }

  /** Returns a block, once. Null if another block or none was announced, or if the read failed. */
  async take(hash: BlockHash): Promise<Bytes | null> {
    this.#lastAsked = hash;
    const reading = this.#reading;
    if (reading === null || Buffer.compare(reading.hash, hash) !== 0) return null;
    this.#reading = null;
    return reading.block;
  }
}
