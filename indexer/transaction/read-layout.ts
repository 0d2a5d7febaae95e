import { blockLengthMax } from '#kernel/bitcoin/consensus.ts';
import { type BlockLayout, headerLength } from './block-layout.ts';
import { type BreakKind, breakFound } from './compact-size.ts';

/** Why bytes are not a block: the code of docs/errors.md, and the byte where the fault is. */
export interface BrokenBlock {
  readonly code: 'block_truncated' | 'block_oversized' | 'block_corrupt';
  readonly at: number;
  readonly message: string;
}

const messages: Readonly<Record<BreakKind, string>> = {
  truncated: 'the block ends before its last transaction is complete',
  'not-shortest': 'a compact size is not in its shortest form',
  'unknown-flag': 'a transaction has an unknown flag',
};

/** Fills a layout from the bytes of a whole block. Null means success. Any bytes give a result. */
export function readLayout(block: Uint8Array, layout: BlockLayout): BrokenBlock | null {
  if (block.length > blockLengthMax) {
    return oversized(blockLengthMax, `a block has ${blockLengthMax} bytes at most`);
  }
  if (block.length <= headerLength) {
    return { code: 'block_truncated', at: block.length, message: messages.truncated };
  }
  const end = layout.readBlock(block);
  if (end < 0) return lastBreak();
  return end < block.length ? oversized(end, 'there are bytes after the last transaction') : null;
}

/** Describes `breakFound` in terms of a block. */
export function lastBreak(): BrokenBlock {
  const { kind, at } = breakFound;
  const code = kind === 'truncated' ? 'block_truncated' : 'block_corrupt';
  return { code, at, message: messages[kind] };
}

const oversized = (at: number, message: string): BrokenBlock => ({ code: 'block_oversized', at, message });
