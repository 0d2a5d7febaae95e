import { maturityBlocks } from '#kernel/runes/rune.ts';

/**
 * Number of blocks above the commit's block after which a node accepts the reveal, because the next block may then
 * contain the reveal (BIP 68).
 */
export const releasedAboveCommit = maturityBlocks - 1;
