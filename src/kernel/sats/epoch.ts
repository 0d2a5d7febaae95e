import { asHeight, type Height, trustedHeight } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { type Sat, satSupply } from './sat.ts';

/** Number of blocks between two halvings. As in ord, it is the same on every network (`subsidyAt`). */
export const epochBlocks = 210_000;
/** Number of blocks between two adjustments of the difficulty. */
export const periodBlocks = 2016;
/** Number of epochs until a halving and an adjustment of the difficulty are in the same block again. */
export const cycleEpochs = 6;
/** The first epoch without a subsidy. */
export const epochsMax = 33;

interface Epoch {
  readonly epoch: number;
  /** Number of sats that each block of the epoch may mine. */
  readonly subsidy: number;
  readonly firstSat: number;
}

const epochs: readonly Epoch[] = (() => {
  const list: Epoch[] = [];
  let firstSat = 0;
  for (let epoch = 0; epoch < epochsMax; epoch++) {
    const subsidy: number = subsidyAt(asHeight(epoch * epochBlocks));
    list.push({ epoch, subsidy, firstSat });
    firstSat += subsidy * epochBlocks;
  }
  return list;
})();
const noSubsidy: Epoch = { epoch: epochsMax, subsidy: 0, firstSat: satSupply };

/**
 * The epoch of a sat. Takes at most 33 steps, and usually only one, because half of all sats are in the first epoch.
 */
export function epochOf(sat: Sat): Epoch {
  let found = noSubsidy;
  for (const epoch of epochs) {
    if (epoch.firstSat > sat) break;
    found = epoch;
  }
  return found;
}

/** The number of the first sat that a block may mine, or `satSupply` if all sats are mined. Ascends with the height. */
export function firstSatAt(height: Height): number {
  const { subsidy, firstSat } = epochs[Math.floor(height / epochBlocks)] ?? noSubsidy;
  return firstSat + (height % epochBlocks) * subsidy;
}

/** Whether a sat is the first sat of a block's subsidy. All other sats are common. */
export function isFirstOfBlock(sat: Sat): boolean {
  const { subsidy, firstSat } = epochOf(sat);
  // this is exact, because a remainder is at least 1/5e9 of a subsidy, and the quotient is below 2^18
  return subsidy > 0 && Number.isInteger((sat - firstSat) / subsidy);
}

/** The height of the block that may mine a sat, and the sat's position in the subsidy of this block. */
export function minedAt(sat: Sat): { readonly height: Height; readonly offset: number } {
  const { epoch, subsidy, firstSat } = epochOf(sat);
  const inEpoch = sat - firstSat;
  const block = Math.floor(inEpoch / subsidy);
  return { height: trustedHeight(epoch * epochBlocks + block), offset: inEpoch - block * subsidy };
}
