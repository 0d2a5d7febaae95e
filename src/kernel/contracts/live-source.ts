import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { BlockRef, BlockSource } from './block-source.ts';

/** A block of a chain, with its header of 80 bytes. */
export interface HeaderRef extends BlockRef {
  readonly header: Uint8Array;
}

/** A source whose chain grows and reorganises. It is a node. */
export interface LiveBlockSource extends BlockSource {
  /** True if the credentials come from a cookie file that the node writes at each start. If absent, it is false. */
  readonly hasCookieFile?: boolean;
  /** The current best block of the source. */
  tip(signal?: AbortSignal): Promise<BlockRef>;
  /**
   * Up to `count` consecutive headers of the source's best chain, starting at a height. All are read at the same
   * moment. The parent of each header is the header before it. Empty if the height is above the tip. A caller that
   * knows a block of that height (`expected`) is answered sooner if the best chain has that block.
   */
  headers(
    fromHeight: Height,
    count: number,
    signal?: AbortSignal,
    expected?: BlockHash,
  ): Promise<readonly HeaderRef[]>;
  /**
   * Whether the source knows that the block is invalid (`getchaintips`). Such a block never joins the source's best
   * chain.
   */
  isInvalid(hash: BlockHash, signal?: AbortSignal): Promise<boolean>;
  /**
   * Settles when there may be news, and after `timeoutMs` at the latest. Settling is only a hint, so read the chain
   * afterwards.
   *
   * @param isAtTip true if the caller had all blocks of the source when it last read the chain. The source may then
   *   begin to read a new block before the caller asks for it. Absent: nothing is read
   */
  news(timeoutMs: number, signal: AbortSignal, isAtTip?: boolean): Promise<void>;
}
