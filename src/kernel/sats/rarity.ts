import type { Height } from '#kernel/primitives/height.ts';
import { cycleEpochs, epochBlocks, minedAt, periodBlocks } from './epoch.ts';
import type { Sat } from './sat.ts';

/** Rarities, from the most frequent to the rarest (ord crates/ordinals/src/rarity.rs). */
export const rarities = ['common', 'uncommon', 'rare', 'epic', 'legendary', 'mythic'] as const;
export type Rarity = (typeof rarities)[number];

/** The rarity of the first sat of a block. */
export function blockRarity(height: Height): Exclude<Rarity, 'common'> {
  if (height === 0) return 'mythic';
  const isHalving = height % epochBlocks === 0;
  const isAdjustment = height % periodBlocks === 0;
  // once in a cycle, both are in the same block
  if (isHalving && isAdjustment) return 'legendary';
  if (isHalving) return 'epic';
  return isAdjustment ? 'rare' : 'uncommon';
}

export function rarityOf(sat: Sat): Rarity {
  const { height, offset } = minedAt(sat);
  return offset === 0 ? blockRarity(height) : 'common';
}

/** Number of blocks in a cycle. The first block of a cycle is legendary. */
export const cycleBlocks = cycleEpochs * epochBlocks;
