import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { mintable, mintEnd, mintStart } from '#kernel/runes/terms.ts';
import { smallU128, zeroU128 } from '#kernel/runes/u128.ts';

export type MintState = 'open' | 'not-begun' | 'ended' | 'used-up' | 'none';

/** Tells whether a block at `height` may mint the rune, and the reason if it may not. */
export function mintStateOf(rune: RuneDetail, height: number): MintState {
  const block = smallU128(rune.height);
  const { terms, mints } = rune;
  if (terms === null) return 'none';
  if (mintable(terms, block, height, mints) !== null) return 'open';
  const start = mintStart(terms, block);
  const end = mintEnd(terms, block);
  if (mints >= (terms.cap ?? zeroU128)) return 'used-up';
  return end !== null && (height >= end || (start !== null && start >= end)) ? 'ended' : 'not-begun';
}
