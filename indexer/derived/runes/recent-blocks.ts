import { strict as assert } from 'node:assert';
import { hashTransactions } from '#indexer/facts/hash-transactions.ts';
import type { RecentTransactions } from '#indexer/ledger/runes/commitment.ts';
import { HashTree } from '#indexer/source/hash-tree.ts';
import { BlockLayout } from '#indexer/transaction/block-layout.ts';
import { readLayout } from '#indexer/transaction/read-layout.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { copyBytes } from '#kernel/copy-bytes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { asBlockHash, type BlockHash } from '#kernel/primitives/hash.ts';
import { asHeight, type Height } from '#kernel/primitives/height.ts';

/** Number of earlier blocks in which a commitment is too young. A commitment needs six confirmations. */
const blocksBefore = 4;
const hashLength = 32;
const previousAt = 4;

const layout = new BlockLayout();
const hashes = new HashTree();

const hashName = (bytes: Uint8Array, at: number): string =>
  Buffer.from(bytes.buffer, bytes.byteOffset + at, hashLength).toString('latin1');

/** A block whose txids are hashed on the first request. */
class TxidBlock {
  /** The hash of the block before it. */
  readonly previous: BlockHash;
  #bytes: Uint8Array | null;
  /** Buffer of the block's own copy of the bytes. */
  #room: Uint8Array<ArrayBuffer> | null = null;
  #txids: ReadonlySet<string> | null = null;

  constructor(bytes: Uint8Array) {
    this.previous = asBlockHash(Uint8Array.from(bytes.subarray(previousAt, previousAt + hashLength)));
    this.#bytes = bytes;
  }

  has(bytes: Uint8Array, at: number): boolean {
    this.#txids ??= this.#hash();
    return this.#txids.has(hashName(bytes, at));
  }

  /** Keeps the block after its bytes are released: copies them, into `room` if that is long enough. */
  detach(room: Uint8Array<ArrayBuffer> | null): void {
    const bytes = this.#bytes;
    if (bytes === null) return;
    const { length } = bytes;
    const own = room !== null && room.length >= length ? room : new Uint8Array(length);
    copyBytes(bytes, 0, length, own, 0);
    this.#room = own;
    this.#bytes = own.subarray(0, length);
  }

  /** Ends the use of the block. Returns the buffer of its copy of the bytes. */
  end(): Uint8Array<ArrayBuffer> | null {
    const room = this.#room;
    this.#room = null;
    this.#bytes = null;
    return room;
  }

  #hash(): Set<string> {
    const bytes = this.#bytes;
    assert(bytes !== null, 'a block has bytes until its txids are known');
    assert(readLayout(bytes, layout) === null, 'a block of the chain can be read');
    hashTransactions(hashes, bytes, layout);
    const txids = new Set<string>();
    for (let tx = 0; tx < layout.transactionCount; tx++) txids.add(hashName(hashes.leaves, tx * hashLength));
    this.#bytes = null;
    return txids;
  }
}

/**
 * The newest blocks that the writer has applied, by hash. Because of the hash it is right on any branch and needs no
 * undo. Has at most four blocks of 4 MB.
 */
export class RecentBlocks {
  readonly #blocks = new Map<string, TxidBlock>();

  get(name: string): TxidBlock | undefined {
    return this.#blocks.get(name);
  }

  /**
   * Copies the bytes of a block into the buffer of the block that is dropped. Batches have few blocks, so nearly every
   * block of a load is copied here, and a new buffer costs more than the copy.
   */
  keep(name: string, block: TxidBlock): void {
    const [oldest] = this.#blocks;
    let room: Uint8Array<ArrayBuffer> | null = null;
    if (oldest !== undefined && this.#blocks.size >= blocksBefore) {
      room = oldest[1].end();
      this.#blocks.delete(oldest[0]);
    }
    block.detach(room);
    this.#blocks.set(name, block);
  }
}

export interface BlocksOfBatch {
  readonly ref: BlockRef;
  readonly bytes: Uint8Array;
}

export interface EarlierBlocks {
  /** The writer's remembered blocks. Null if there is no in-memory state. */
  readonly recent: RecentBlocks | null;
  readonly readBlock: (ref: BlockRef) => Promise<Uint8Array>;
  /** The lowest block that must exist, because a folder may begin with it. */
  readonly firstHeight: Height;
}

/** The txids of the blocks of a batch and of those just before it. */
export class BatchTxids {
  readonly #earlier: EarlierBlocks;
  readonly #blocks = new Map<string, TxidBlock>();
  readonly #newest: string[];

  constructor(blocks: readonly BlocksOfBatch[], earlier: EarlierBlocks) {
    this.#earlier = earlier;
    for (const { ref, bytes } of blocks) this.#blocks.set(hashName(ref.hash, 0), new TxidBlock(bytes));
    this.#newest = [...this.#blocks.keys()].slice(-blocksBefore);
  }

  /** The transactions that are too young for a commitment of a block. Reads the blocks that are not in memory. */
  async recentOf({ height, hash }: BlockRef): Promise<RecentTransactions> {
    const blocks: TxidBlock[] = [];
    let next = hash;
    for (let at: number = height; at >= Math.max(0, height - blocksBefore); at--) {
      const block = await this.#find({ height: asHeight(at), hash: next });
      if (block === null) break;
      blocks.push(block);
      next = block.previous;
    }
    return { has: (bytes, at) => blocks.some((block) => block.has(bytes, at)) };
  }

  async #find(ref: BlockRef): Promise<TxidBlock | null> {
    const name = hashName(ref.hash, 0);
    const known = this.#blocks.get(name) ?? this.#earlier.recent?.get(name);
    if (known !== undefined) return known;
    const bytes = await this.#read(ref);
    if (bytes === null) return null;
    const block = new TxidBlock(bytes);
    this.#blocks.set(name, block);
    return block;
  }

  async #read(ref: BlockRef): Promise<Uint8Array | null> {
    try {
      return await this.#earlier.readBlock(ref);
    } catch (error) {
      const isMissing = error instanceof AppError && error.code === 'block_unavailable';
      if (isMissing && ref.height < this.#earlier.firstHeight) return null;
      throw error;
    }
  }

  /** Remembers the last blocks of the batch, whose bytes are about to be released. */
  remember(): void {
    const { recent } = this.#earlier;
    if (recent === null) return;
    for (const name of this.#newest) {
      const block = this.#blocks.get(name);
      assert(block !== undefined, 'a block of the batch');
      recent.keep(name, block);
    }
  }
}
