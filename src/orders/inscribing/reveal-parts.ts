import { anchorInputWeight, keyInputWeight, leafInputWeight } from '#kernel/bitcoin/plan-weight.ts';
import { outputWeight } from '#kernel/bitcoin/transaction-size.ts';
import { etchingScripts } from './etching-parts.ts';
import type { OrderTerms } from './order-terms.ts';
import { anchorScript, burnScript, type Parts, p2trOutputWeight, weightWith } from './plan-amounts.ts';
import {
  type FileGroup,
  isLast,
  leftOfInventory,
  outputScripts,
  postageOutputCount,
  revealsPostageFirst,
  type SettledTerms,
} from './settled-terms.ts';

/** The inputs and outputs of a reveal, without our output. */
export function revealParts(terms: SettledTerms, group: FileGroup, leafBytes: number): Parts {
  const { parents } = terms;
  const keyInputs =
    parents.length + (revealsPostageFirst(terms) ? 1 : 0) + (terms.inventory === null ? 0 : 1);
  const left = leftOfInventory(terms, group).filter((sats) => sats > 0n).length;
  const returns = isLast(terms, group)
    ? parents.reduce((sum, { returnScript }) => sum + outputWeight(returnScript), 0)
    : parents.length * p2trOutputWeight;
  const etching = etchingScripts(terms, group);
  return {
    inputs: 1 + keyInputs,
    outputs: parents.length + left + postageOutputCount(terms, group) + etching.length,
    weight:
      leafInputWeight(leafBytes) +
      keyInputs * keyInputWeight +
      returns +
      left * p2trOutputWeight +
      postageWeight(terms, group) +
      etching.reduce((sum, script) => sum + outputWeight(script), 0),
  };
}

/** Maximum weight of a reveal. The maximum is reached if our output is P2TR. */
export const revealWeight = (terms: SettledTerms, group: FileGroup, leafBytes: number): number =>
  weightWith(revealParts(terms, group, leafBytes), p2trOutputWeight);

/**
 * Weight of the inscriptions' outputs. Creates no objects, because groups are tried file by file, so this runs often.
 */
function postageWeight(terms: OrderTerms, group: FileGroup): number {
  const scripts = outputScripts(terms);
  const [shared = anchorScript] = scripts;
  const outputs = postageOutputCount(terms, group);
  if (scripts.length === 1) return outputs * outputWeight(shared);
  let weight = 0;
  for (let file = group.first; file < group.first + group.count; file++) {
    weight += outputWeight(scripts[file] ?? shared);
  }
  return weight;
}

/** The inputs and outputs of the transaction that burns a reveal's anchors, without our output. */
export function burnParts(anchors: number): Parts {
  return {
    inputs: anchors + 1,
    outputs: 1,
    weight: anchors * anchorInputWeight + keyInputWeight + outputWeight(burnScript),
  };
}

/** Maximum weight of the burn of a reveal with this many files. */
export function burnWeight(terms: OrderTerms, count: number): number {
  if (!terms.burn) return 0;
  return weightWith(burnParts(postageOutputCount(terms, { first: 0, count })), p2trOutputWeight);
}
