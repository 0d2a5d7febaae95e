import { asHeight, type Height, trustedHeight } from '#kernel/primitives/height.ts';
import { subsidyAt } from '#kernel/primitives/network.ts';
import { type Sat, satSupply } from './sat.ts';

/** Number of blocks between two halvings, on every network as ord counts them (`subsidyAt`). */
export const epochBlocks = 210_000;
/** Number of blocks between two adjustments of the difficulty. */
export const periodBlocks = 2016;
/** Number of epochs between two conjunctions of halving and adjustment. */
export const cycleEpochs = 6;
/** The first epoch without a subsidy. */
export const epochsMax = 33;

interface Epoch {
  readonly epoch: number;
  /** Sats of each block. */
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

/** The epoch of a sat. At most 33 steps, one for most sats: half of all are in the first epoch. */
export function epochOf(sat: Sat): Epoch {
  let found = noSubsidy;
  for (const epoch of epochs) {
    if (epoch.firstSat > sat) break;
    found = epoch;
  }
  return found;
}

/** The number of the first sat that a block may mine; `satSupply` once all are mined. Ascends with the height. */
export function firstSatAt(height: Height): number {
  const { subsidy, firstSat } = epochs[Math.floor(height / epochBlocks)] ?? noSubsidy;
  return firstSat + (height % epochBlocks) * subsidy;
}

/** Whether a sat is the first of the subsidy of its block: no other sat is rarer than common. */
export function isFirstOfBlock(sat: Sat): boolean {
  const { subsidy, firstSat } = epochOf(sat);
  // exact: a rest is at least 1/5e9 of a subsidy, and the quotient is below 2^18
  return subsidy > 0 && Number.isInteger((sat - firstSat) / subsidy);
}

/** The height of the block that may mine a sat, and the sat's place in that block's subsidy. */
export function minedAt(sat: Sat): { readonly height: Height; readonly offset: number } {
  const { epoch, subsidy, firstSat } = epochOf(sat);
  const inEpoch = sat - firstSat;
  const block = Math.floor(inEpoch / subsidy);
  return { height: trustedHeight(epoch * epochBlocks + block), offset: inEpoch - block * subsidy };
}
