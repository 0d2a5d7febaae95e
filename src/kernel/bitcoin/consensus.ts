/** Maximum length of a valid block, in bytes (Bitcoin Core consensus.h MAX_BLOCK_SERIALIZED_SIZE). */
export const blockLengthMax = 4_000_000;
/** Maximum weight of a valid block (Bitcoin Core consensus.h MAX_BLOCK_WEIGHT). */
export const blockWeightMax = 4_000_000;
/** Maximum value of an output, and of a sum of outputs, in sats (Bitcoin Core consensus/amount.h MAX_MONEY). */
export const maxMoney = 2_100_000_000_000_000;
/** Number of blocks that must follow a coinbase before it may be spent (Bitcoin Core's COINBASE_MATURITY). */
export const coinbaseMaturity = 100;

/** Sequence of an input that makes its transaction replaceable (BIP 125), without a relative lock (BIP 68). */
export const replaceableSequence = 0xffff_fffd;
