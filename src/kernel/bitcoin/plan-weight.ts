import type { PlannedInput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { compactSizeBytes, frameWeight, outputWeight } from './transaction-size.ts';

/** Four times outpoint, empty script and its length, and sequence (BIP 141). */
const inputWeight = 4 * 41;
/** A Schnorr signature with its length: 64 bytes under the default signature hash (BIP 341). */
const signatureBytes = 1 + 64;
/** Leaf version and parity, and the internal key: the path of an only leaf is empty (BIP 341). */
const controlBlockBytes = 1 + 33;

/** What a plan needs for its weight. */
export interface WeighedPlan {
  readonly inputs: readonly Pick<PlannedInput, 'path' | 'leafScript'>[];
  readonly outputs: readonly Pick<TransactionPlan['outputs'][number], 'script'>[];
}

/** The weight of a plan's transaction once it is signed. Exact: all signatures have the same size. */
export function plannedWeight({ inputs, outputs }: WeighedPlan): number {
  const spent = inputs.reduce((sum, input) => sum + inputWeight + witnessBytes(input), 0);
  const paid = outputs.reduce((sum, { script }) => sum + outputWeight(script), 0);
  return frameWeight(inputs.length, outputs.length) + spent + paid;
}

/** Of an input, with the count of its items. */
function witnessBytes({ path, leafScript }: WeighedPlan['inputs'][number]): number {
  if (path === 'key' || leafScript === null) return 1 + signatureBytes;
  const leafBytes = compactSizeBytes(leafScript.length) + leafScript.length;
  return 1 + signatureBytes + leafBytes + controlBlockBytes;
}
