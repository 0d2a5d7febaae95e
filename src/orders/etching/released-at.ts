import { maturityBlocks } from '#kernel/runes/rune.ts';

/** Blocks after the commit's block from which a node takes the reveal: the next block may have it (BIP 68). */
export const releasedAboveCommit = maturityBlocks - 1;
