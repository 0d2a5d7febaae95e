/** Maximum length of a valid block in bytes: Bitcoin Core's MAX_BLOCK_SERIALIZED_SIZE (consensus.h). */
export const blockLengthMax = 4_000_000;
/** Maximum weight of a valid block: Bitcoin Core's MAX_BLOCK_WEIGHT (consensus.h). */
export const blockWeightMax = 4_000_000;
/** Maximum value in sats of an output, and of a sum of outputs: Bitcoin Core's MAX_MONEY (consensus/amount.h). */
export const maxMoney = 2_100_000_000_000_000;
/** Number of blocks on top of a coinbase before it may be spent (Bitcoin Core's COINBASE_MATURITY). */
export const coinbaseMaturity = 100;

/** The sequence of an input whose transaction may be replaced (BIP 125), without a relative lock (BIP 68). */
export const replaceableSequence = 0xffff_fffd;
