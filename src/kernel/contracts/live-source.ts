import type { BlockRef, BlockSource } from './block-source.ts';

/** A block of a chain with its 80 bytes of header. */
export interface HeaderRef extends BlockRef {
  readonly header: Uint8Array;
}

/** A source whose chain grows and reorganises: a node. */
export interface LiveBlockSource extends BlockSource {
  /** The node lets us in with what stands in a file that it writes anew at each start. Absent: it does not. */
  readonly hasCookieFile?: boolean;
  /** Its best block now. */
  tip(signal?: AbortSignal): Promise<BlockRef>;
  /**
   * Up to `count` consecutive headers of its best chain from a height on, each naming the one before it as its parent:
   * all of one moment. Empty where the height is above its tip.
   */
  headers(fromHeight: number, count: number, signal?: AbortSignal): Promise<readonly HeaderRef[]>;
  /** Whether it knows the block and calls it invalid (`getchaintips`): it will never be on its best chain. */
  isInvalid(hash: Uint8Array, signal?: AbortSignal): Promise<boolean>;
  /** Settles when there may be something new, and after `timeoutMs` at the latest. Only a hint: whoever wakes asks. */
  news(timeoutMs: number, signal: AbortSignal): Promise<void>;
}
