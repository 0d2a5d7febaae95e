import assert from 'node:assert/strict';
import { type Rune, runeCommitment } from '#kernel/runes/rune.ts';
import type { Runestone } from '#kernel/runes/runestone/artifact.ts';
import { encipher } from '#kernel/runes/runestone/encipher.ts';
import type { U128 } from '#kernel/runes/u128.ts';
import type { OrderTerms } from './order-terms.ts';
import { type FileGroup, postageOutputCount, type SettledTerms } from './settled-terms.ts';

/** The rune name that a reveal's leaf claims; null: no etching, or one whose name ord gives. */
export const claimedName = ({ etching }: Pick<OrderTerms, 'etching'>): Rune | null => etching?.rune ?? null;

/** The push with which a leaf claims its name; null: it claims none. */
export function claimOf(terms: Pick<OrderTerms, 'etching'>): Uint8Array | null {
  const name = claimedName(terms);
  return name === null ? null : runeCommitment(name);
}

/** Units that the receiver gets with the etching; null: none. */
export function premineOf({ etching }: Pick<OrderTerms, 'etching'>): U128 | null {
  const premine = etching?.premine ?? null;
  return premine === 0 ? null : premine;
}

/** Number of postages for the receivers: one for each inscription, for a premine, and for each mint. */
export const postageCount = (terms: Pick<OrderTerms, 'files' | 'etching' | 'mint'>): number =>
  terms.files.length + (premineOf(terms) === null ? 0 : 1) + (terms.mint?.count ?? 0);

/** Number of items that an order pays for: each file, each mint, and an etching without files as one. */
export function chargedItems({
  files,
  etching,
  mint,
}: Pick<OrderTerms, 'files' | 'etching' | 'mint'>): number {
  if (mint !== null) return mint.count;
  return etching === null ? files.length : Math.max(1, files.length);
}

/** The output with the premine: after the inscriptions, for the receiver. Empty without a premine. */
export function premineOutputs(terms: SettledTerms): { script: Uint8Array; value: bigint }[] {
  if (premineOf(terms) === null) return [];
  const [receiver] = terms.receivers;
  assert(receiver !== undefined, 'an etching has a receiver');
  return [{ script: receiver, value: terms.postage }];
}

/** The runestone of a reveal that etches; null: it does not. Its pointer leads the premine to its output. */
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
