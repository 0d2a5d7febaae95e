import assert from 'node:assert/strict';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { InventoryTerms, OrderTerms } from './order-terms.ts';
import { anchorScript, largest, p2trDust, valueOf } from './plan-amounts.ts';
import { idField } from './reveal-script.ts';

/** The files of one reveal: `count` files of the order, starting at index `first`. */
export interface FileGroup {
  readonly first: number;
  readonly count: number;
}

/** Terms, with additional values that are computed once for all files. */
export interface SettledTerms extends OrderTerms {
  /** The postage of the terms in sats. `least` is replaced by the smallest value that nodes relay to all receivers. */
  readonly postage: bigint;
  readonly parentsValue: bigint;
  /** Lengths of the parents' ids as field values, in bytes. */
  readonly parentLengths: readonly number[];
}

export function settleTerms(terms: OrderTerms): SettledTerms {
  return {
    ...terms,
    postage: postageOf(terms),
    parentsValue: valueOf(terms.parents),
    parentLengths: terms.parents.map(({ id }) => idField(id).length),
  };
}

/**
 * Whether reveals spend the inscription's own output first, then parents and the inputs that pay the fee. This is
 * needed because an envelope is uncursed only in the first input. Otherwise parents come first, so that they are
 * returned whatever the value of the payment is.
 */
export function revealsPostageFirst({ uncurse, parents }: Pick<OrderTerms, 'uncurse' | 'parents'>): boolean {
  return uncurse && parents.length > 0;
}

/** The sats of each inscription's output. */
export function postageOf(
  terms: Pick<OrderTerms, 'postage' | 'burn' | 'receivers' | 'uncurse' | 'parents'>,
): bigint {
  if (terms.postage !== 'least') return terms.postage;
  const dusts = outputScripts(terms).map((script) => BigInt(dustOf(script)));
  // the commit then has a P2TR output with exactly the postage, which must not be dust
  return largest(...dusts, revealsPostageFirst(terms) ? p2trDust : 0n);
}

/** Scripts that receive inscriptions: one for all files, or one for each file. */
export function outputScripts({
  burn,
  receivers,
}: Pick<OrderTerms, 'burn' | 'receivers'>): readonly Uint8Array[] {
  return burn ? [anchorScript] : receivers;
}

/** The outputs with the inscriptions of a reveal. */
export function postageOutputs(
  terms: SettledTerms,
  { first, count }: FileGroup,
): { script: Uint8Array; value: bigint }[] {
  const scripts = outputScripts(terms);
  const { postage } = terms;
  const [shared = anchorScript] = scripts;
  if (count === 0) return [];
  if (terms.batchMode === 'shared-output') return [{ script: shared, value: postage * BigInt(count) }];
  return Array.from({ length: count }, (_, place) => ({
    script: scripts.length === 1 ? shared : (scripts[first + place] ?? shared),
    value: postage,
  }));
}

/** Number of outputs with the inscriptions of a reveal. */
export const postageOutputCount = ({ batchMode }: OrderTerms, { count }: FileGroup): number =>
  batchMode === 'shared-output' ? Math.min(1, count) : count;

/**
 * Whether a group is the last reveal of an order. The last reveal returns parents to their owners; earlier reveals
 * return parents to their deposit addresses.
 */
export const isLast = ({ files }: OrderTerms, { first, count }: FileGroup): boolean =>
  first + count === files.length;

/**
 * Position of the sat to which an inscription of a reveal moves, counted from the first sat of all outputs; null for
 * the first inscription, which needs no pointer.
 */
export function pointerOf(
  terms: SettledTerms,
  group: Pick<FileGroup, 'first'>,
  place: number,
): bigint | null {
  // with an inventory sat, the envelope is in the second input, so it needs a pointer
  const sat = inventoryOf(terms, group);
  if (sat !== null) return sat.place;
  return place === 0 ? null : terms.parentsValue + BigInt(place) * terms.postage;
}

/**
 * The inventory sat of a reveal. A reveal with an inventory sat has one file. Null if sats of the payments are
 * inscribed.
 */
export function inventoryOf(
  { inventory }: Pick<OrderTerms, 'inventory'>,
  { first }: Pick<FileGroup, 'first'>,
): InventoryTerms | null {
  if (inventory === null) return null;
  const sat = inventory[first];
  assert(sat !== undefined, `file ${first} has a sat of the inventory`);
  return sat;
}

/**
 * Number of unused sats of the inventory output, before the inscription and after it. Both are 0 if no sats are unused.
 */
export function leftOfInventory(
  terms: SettledTerms,
  group: Pick<FileGroup, 'first'>,
): readonly [before: bigint, after: bigint] {
  const sat = inventoryOf(terms, group);
  return sat === null ? [0n, 0n] : [sat.place, sat.value - sat.place - terms.postage];
}

/**
 * Whether the sats before an inventory sat can be an output, or are 0. The same is required of the sats after the
 * postage.
 */
export const isSpendable = ({ value, place }: InventoryTerms, postage: bigint): boolean =>
  [place, value - place - postage].every((sats) => sats === 0n || sats >= p2trDust);
