import type { PlannedInput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { scriptType } from './script-type.ts';
import { compactSizeBytes, frameWeight, outputWeight } from './transaction-size.ts';

/** Four times outpoint, empty script and its length, and sequence (BIP 141). */
const inputWeight = 4 * 41;
/** A Schnorr signature with its length: 64 bytes under the default signature hash (BIP 341). */
const signatureBytes = 1 + 64;
/** Leaf version and parity, and the internal key: the path of an only leaf is empty (BIP 341). */
const controlBlockBytes = 1 + 33;

/** What a plan needs for its weight. */
export interface WeighedPlan {
  readonly inputs: readonly Pick<PlannedInput, 'path' | 'leafScript' | 'script'>[];
  readonly outputs: readonly Pick<TransactionPlan['outputs'][number], 'script'>[];
}

/**
 * The weight of a plan's transaction once it is signed. Exact: all signatures have the same size, and anchors are never
 * its only inputs.
 */
export function plannedWeight({ inputs, outputs }: WeighedPlan): number {
  const spent = inputs.reduce((sum, input) => sum + weightOfInput(input), 0);
  const paid = outputs.reduce((sum, { script }) => sum + outputWeight(script), 0);
  return frameWeight(inputs.length, outputs.length) + spent + paid;
}

/** The weight of an input that is spent by key. */
export const keyInputWeight = inputWeight + 1 + signatureBytes;
/** The weight of an input that spends an anchor (P2A): its witness has no items. */
export const anchorInputWeight = inputWeight + 1;

/** The weight of an input that is spent through a leaf of this length. */
export function leafInputWeight(leafBytes: number): number {
  return keyInputWeight + compactSizeBytes(leafBytes) + leafBytes + controlBlockBytes;
}

function weightOfInput({ path, leafScript, script }: WeighedPlan['inputs'][number]): number {
  if (scriptType(script) === 'p2a') return anchorInputWeight;
  return path === 'key' || leafScript === null ? keyInputWeight : leafInputWeight(leafScript.length);
}
