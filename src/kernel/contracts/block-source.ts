import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

/**
 * A height and the hash of its block. The hash is 32 bytes in internal order (the order in which hashes are computed).
 */
export interface BlockRef {
  readonly height: Height;
  readonly hash: BlockHash;
}

/** Running totals before a block, proven by another source. An absent total is unknown. */
export interface StartCounters {
  readonly sequence?: number;
  readonly blessed?: number;
  readonly cursed?: number;
  readonly unbound?: number;
  readonly lostSats?: number;
}

/** A group of consecutive blocks. A source without gaps has exactly one island, from height 0. */
export interface Island {
  readonly firstHeight: Height;
  readonly lastHeight: Height;
  /** Proven totals before `firstHeight` (chain.json `islands`), if the source has such totals. */
  readonly start: StartCounters;
}

/** Buffers that a source fills, and that workers read without copying (indexer/source/buffer-pool.ts). */
export interface BufferPool {
  /** Returns a buffer of at least this many bytes. The buffer may contain bytes of an earlier use. */
  take(sizeBytes: number): SharedArrayBuffer;
  /** Accepts a returned buffer. Views of the buffer must not be used afterwards. Buffers from elsewhere are ignored. */
  give(buffer: ArrayBufferLike): void;
}

export interface SourceBlock {
  readonly ref: BlockRef;
  /**
   * The raw block in the network's serialisation. The buffer belongs to the caller, and may be longer than the block.
   */
  readonly bytes: Uint8Array;
  /**
   * The outputs that the block spends, in the encoding of Bitcoin Core's `/rest/spenttxouts/<hash>.bin`. This is a
   * compact size with the number of transactions (the coinbase too, with 0 entries). For each transaction, a compact
   * size and that many outputs follow (8 bytes of value, compact size, script), in the order of its inputs. `null` if
   * the source does not have these outputs.
   */
  readonly spentOutputs: Uint8Array | null;
  /**
   * Heights of the blocks that made the spent outputs, in the order of `spentOutputs`. `null` if the source does not
   * know these heights.
   */
  readonly spentHeights: Uint32Array | null;
}

/**
 * A source of blocks. Every source runs the conformance suite test/support/node/block-source-conformance.ts. Heights
 * ascend. `refs()` is the best chain, or the requested chain, at the moment of the call.
 */
export interface BlockSource {
  /** Name of the source for messages, for example `folder ./samples/mainnet`. */
  readonly name: string;
  readonly network: NetworkName;
  /** `false` if header, merkle root and witness commitment must be checked before a block is applied. */
  readonly trusted: boolean;
  /** The islands of the chain, ascending. */
  islands(): Promise<readonly Island[]>;
  /** The refs of all blocks of the chain, starting at `from`, ascending by height. */
  refs(from?: Height): Promise<readonly BlockRef[]>;
  /** The size of a block of the chain, for estimates, or null if unknown. Absent if the source never knows sizes. */
  sizeOf?(height: Height, signal: AbortSignal): Promise<number | null>;
  /**
   * Reads one block. If a pool is given, its buffers are used. Throws `block_unavailable`, `block_truncated` or
   * `block_oversized`.
   */
  read(ref: BlockRef, signal?: AbortSignal, buffers?: BufferPool): Promise<SourceBlock>;
  close(): Promise<void>;
}
