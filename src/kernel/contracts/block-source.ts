import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';

/** A height and the hash at it: 32 bytes in internal order (the order in which hashes are computed). */
export interface BlockRef {
  readonly height: Height;
  readonly hash: BlockHash;
}

/** Running totals before a block, proven from outside. Absent: unknown. */
export interface StartCounters {
  readonly sequence?: number;
  readonly blessed?: number;
  readonly cursed?: number;
  readonly unbound?: number;
  readonly lostSats?: number;
}

/** A run of consecutive blocks. A source without gaps has exactly one, from height 0. */
export interface Island {
  readonly firstHeight: Height;
  readonly lastHeight: Height;
  /** Proven totals before `firstHeight` (chain.json `islands`), if the source has any. */
  readonly start: StartCounters;
}

/** Buffers that a source fills and the workers read in place (indexer/source/buffer-pool.ts). */
export interface BufferPool {
  /** A buffer of at least this many bytes. It may contain bytes of an earlier use. */
  take(sizeBytes: number): SharedArrayBuffer;
  /** Takes a buffer back; views of it must not be used afterwards. Ignores buffers of another origin. */
  give(buffer: ArrayBufferLike): void;
}

export interface SourceBlock {
  readonly ref: BlockRef;
  /** The raw block as the network serialises it. The buffer belongs to the caller, and may be longer than the block. */
  readonly bytes: Uint8Array;
  /**
   * The outputs that the block spends, in the encoding of Bitcoin Core's `/rest/spenttxouts/<hash>.bin`: compact size,
   * number of transactions (the coinbase too, with 0 entries); for each a compact size and that many outputs (8 bytes
   * of value, compact size, script) in the order of its inputs. Null: the source does not have them.
   */
  readonly spentOutputs: Uint8Array | null;
  /**
   * Heights of the blocks that made the spent outputs, in the order of `spentOutputs`. Null: the source does not know
   * them.
   */
  readonly spentHeights: Uint32Array | null;
}

/**
 * A source of blocks. Every source runs the conformance suite test/support/node/block-source-conformance.ts. Heights
 * ascend; `refs()` is the best chain, or the requested one, at the moment of the call.
 */
export interface BlockSource {
  /** Name of the source for messages, e.g. `folder ./samples/mainnet`. */
  readonly name: string;
  readonly network: NetworkName;
  /** False: header, merkle root and witness commitment must be checked before a block is applied. */
  readonly trusted: boolean;
  /** The islands of the chain, ascending. */
  islands(): Promise<readonly Island[]>;
  /** The refs of all blocks of the chain from `from` on, ascending by height. */
  refs(from?: Height): Promise<readonly BlockRef[]>;
  /** The size of a block of the chain, for estimates; null: unknown. Absent: never known. */
  sizeOf?(height: Height, signal: AbortSignal): Promise<number | null>;
  /**
   * Reads one block, into buffers of the pool if one is given. Throws `block_unavailable`, `block_truncated` or
   * `block_oversized`.
   */
  read(ref: BlockRef, signal?: AbortSignal, buffers?: BufferPool): Promise<SourceBlock>;
  close(): Promise<void>;
}
