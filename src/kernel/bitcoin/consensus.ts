/** Bitcoin Core's MAX_BLOCK_SERIALIZED_SIZE (consensus.h): no valid block is longer. */
export const blockLengthMax = 4_000_000;
/** Bitcoin Core's MAX_BLOCK_WEIGHT (consensus.h). */
export const blockWeightMax = 4_000_000;
/** Bitcoin Core's MAX_MONEY (consensus/amount.h), in sats: no output, and no sum of outputs, is above it. */
export const maxMoney = 2_100_000_000_000_000;
/** Blocks on top of a coinbase before it may be spent (Bitcoin Core's COINBASE_MATURITY). */
export const coinbaseMaturity = 100;

/** The sequence of an input whose transaction may be replaced (BIP 125), without a relative lock (BIP 68). */
export const replaceableSequence = 0xffff_fffd;
