import assert from 'node:assert/strict';
import { type Rune, runeCommitment } from '#kernel/runes/rune.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import type { U128 } from '#kernel/runes/u128.ts';
import type { OrderTerms } from './order-terms.ts';
import { type FileGroup, postageOutputCount, type SettledTerms } from './settled-terms.ts';

/** The name that the leaf of a reveal claims; null: it etches none, or one that ord gives. */
export const claimedName = ({ etching }: Pick<OrderTerms, 'etching'>): Rune | null => etching?.rune ?? null;

/** The push by which a leaf claims its name; null: it claims none. */
export function claimOf(terms: Pick<OrderTerms, 'etching'>): Uint8Array | null {
  const name = claimedName(terms);
  return name === null ? null : runeCommitment(name);
}

/** Units that the receiver gets with the etching; null: none. */
export function premineOf({ etching }: Pick<OrderTerms, 'etching'>): U128 | null {
  const premine = etching?.premine ?? null;
  return premine === 0 ? null : premine;
}

/** How many postages the receivers get: of each inscription, of a premine, and of each mint. */
export const postageCount = (terms: Pick<OrderTerms, 'files' | 'etching' | 'mint'>): number =>
  terms.files.length + (premineOf(terms) === null ? 0 : 1) + (terms.mint?.count ?? 0);

/** How many times an order is charged for: each file, each mint, and an etching without files as one. */
export function chargedItems({
  files,
  etching,
  mint,
}: Pick<OrderTerms, 'files' | 'etching' | 'mint'>): number {
  if (mint !== null) return mint.count;
  return etching === null ? files.length : Math.max(1, files.length);
}

/** The output that holds the premine: after the inscriptions, for the receiver. None: there is no premine. */
export function premineOutputs(terms: SettledTerms): { script: Uint8Array; value: bigint }[] {
  if (premineOf(terms) === null) return [];
  const [receiver] = terms.receivers;
  assert(receiver !== undefined, 'an etching has a receiver');
  return [{ script: receiver, value: terms.postage }];
}

/** The runestone of a reveal; null: it etches nothing. Its pointer leads the premine to its output. */
export function etchingRunestone(terms: SettledTerms, group: FileGroup): Runestone | null {
  const { etching } = terms;
  if (etching === null) return null;
  const pointer = premineOf(terms) === null ? null : postageOutputCount(terms, group);
  return { kind: 'runestone', edicts: [], etching, mint: null, pointer };
}

/** The scripts of what an etching adds to the outputs of its reveal. */
export function etchingScripts(terms: SettledTerms, group: FileGroup): readonly Uint8Array[] {
  const runestone = etchingRunestone(terms, group);
  return runestone === null
    ? []
    : [...premineOutputs(terms).map(({ script }) => script), encipher(runestone)];
}
