import assert from 'node:assert/strict';
import { type Rune, runeCommitment } from '#kernel/runes/rune.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import type { U128 } from '#kernel/runes/u128.ts';
import type { OrderTerms } from './order-terms.ts';
import { type FileGroup, postageOutputCount, type SettledTerms } from './settled-terms.ts';

/**
 * The rune name that a reveal's leaf claims; null if there is no etching, or if ord assigns the name of the etching.
 */
export const claimedName = ({ etching }: Pick<OrderTerms, 'etching'>): Rune | null => etching?.rune ?? null;

/** The push with which a leaf claims a rune name; null if the leaf claims no name. */
export function claimOf(terms: Pick<OrderTerms, 'etching'>): Uint8Array | null {
  const name = claimedName(terms);
  return name === null ? null : runeCommitment(name);
}

/** Units that the receiver gets with the etching; null if there is no premine. */
export function premineOf({ etching }: Pick<OrderTerms, 'etching'>): U128 | null {
  const premine = etching?.premine ?? null;
  return premine === 0 ? null : premine;
}

/** Number of postages for the receivers: one for each inscription, one for a premine, and one for each mint. */
export const postageCount = (terms: Pick<OrderTerms, 'files' | 'etching' | 'mint'>): number =>
  terms.files.length + (premineOf(terms) === null ? 0 : 1) + (terms.mint?.count ?? 0);

/** Number of items that an order pays for: each file and each mint is one item, and so is an etching without files. */
export function chargedItems({
  files,
  etching,
  mint,
}: Pick<OrderTerms, 'files' | 'etching' | 'mint'>): number {
  if (mint !== null) return mint.count;
  return etching === null ? files.length : Math.max(1, files.length);
}

/** The output that gives the premine to the receiver. It comes after the inscriptions. Empty without a premine. */
export function premineOutputs(terms: SettledTerms): { script: Uint8Array; value: bigint }[] {
  if (premineOf(terms) === null) return [];
  const [receiver] = terms.receivers;
  assert(receiver !== undefined, 'an etching has a receiver');
  return [{ script: receiver, value: terms.postage }];
}

/**
 * The runestone of a reveal that etches; null if the reveal does not etch. The runestone's pointer sends the premine to
 * the output for the premine.
 */
export function etchingRunestone(terms: SettledTerms, group: FileGroup): Runestone | null {
  const { etching } = terms;
  if (etching === null) return null;
  const pointer = premineOf(terms) === null ? null : postageOutputCount(terms, group);
  return { kind: 'runestone', edicts: [], etching, mint: null, pointer };
}

/** Scripts of the outputs that an etching adds to its reveal. */
export function etchingScripts(terms: SettledTerms, group: FileGroup): readonly Uint8Array[] {
  const runestone = etchingRunestone(terms, group);
  return runestone === null
    ? []
    : [...premineOutputs(terms).map(({ script }) => script), encipher(runestone)];
}
