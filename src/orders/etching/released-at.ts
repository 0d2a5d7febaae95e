import { maturityBlocks } from '#kernel/runes/rune.ts';

/** Blocks above that of the commit after which a node takes the reveal: the next block may have it (BIP 68). */
export const releasedAboveCommit = maturityBlocks - 1;
