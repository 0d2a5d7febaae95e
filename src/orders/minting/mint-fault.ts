import type { RuneDetail } from '#chain/runes/rune.queries.ts';
import { formatSpacedRune } from '#kernel/runes/spaced-rune.ts';
import { mintEnd, mintStart } from '#kernel/runes/terms.ts';
import { smallU128 } from '#kernel/runes/u128.ts';

/** Facts of a rune that decide whether it can be minted. */
export type MintableRune = Pick<RuneDetail, 'rune' | 'spacers' | 'height' | 'terms' | 'mints'>;

/** A rune, and the number of its mints that wait for a block. */
export interface MintFacts {
  readonly rune: MintableRune;
  /** Number of other people's mints in the mempool. */
  readonly pending: number;
  /** Number of mints of this service's orders that have priority over the order in question. */
  readonly promised: number;
}

const blockOf = ({ height }: MintableRune) => smallU128(height);

/** Number of mints that are left after all blocks, whatever the mempool contains. Pure. */
export const unmintedOf = ({ terms, mints }: MintableRune): bigint =>
  terms === null ? 0n : BigInt(terms.cap ?? 0) - BigInt(mints);

/** Number of mints that blocks, the mempool and other orders of this service leave. 0 if no mints are left. Pure. */
export function mintsLeft({ rune, pending, promised }: MintFacts): bigint {
  const left = unmintedOf(rune) - BigInt(pending + promised);
  return left > 0n ? left : 0n;
}

/** Whether mints may be sent for the block at this height, because minting has started by then. Pure. */
export function isMintOpen(rune: MintableRune, height: number): boolean {
  const start = rune.terms === null ? null : mintStart(rune.terms, blockOf(rune));
  return start === null || BigInt(height) >= BigInt(start);
}

/**
 * The reason why no more mints of a rune are sent, as a sentence for customers. Null if more mints are sent. No mints
 * are sent for the last block of the terms, because many of these mints would be too late. Pure.
 *
 * @param next height of the next block
 */
export function mintsEnded(rune: MintableRune, next: number): string | null {
  const name = formatSpacedRune(rune);
  const end = rune.terms === null ? null : mintEnd(rune.terms, blockOf(rune));
  if (end !== null && BigInt(next) >= BigInt(end) - 1n)
    return `${name} can be minted only up to block ${BigInt(end) - 1n}, and this service sends no mint for this last block.`;
  return unmintedOf(rune) > 0n ? null : `All ${rune.terms?.cap ?? 0} mints of ${name} are used.`;
}

/**
 * The reason why an order cannot have a number of mints, as a sentence for customers. Null if the order can have them.
 * Pure.
 *
 * @param first height of the first block that could have the mints
 */
export function mintFault(facts: MintFacts, count: number, first: number): string | null {
  const { rune, pending, promised } = facts;
  const { terms } = rune;
  const name = formatSpacedRune(rune);
  if (terms === null) return `${name} cannot be minted, because its etching has no terms.`;
  if (terms.amount === null || terms.amount === 0) return `A mint of ${name} gives no units.`;
  if (!isMintOpen(rune, first))
    return `${name} can be minted from block ${mintStart(terms, blockOf(rune))} on, but the first block that could have the mints of this order is ${first}.`;
  const ended = mintsEnded(rune, first);
  if (ended !== null) return ended;
  const left = mintsLeft(facts);
  if (left >= BigInt(count)) return null;
  return `Only ${left} of ${terms.cap} mints of ${name} are left. ${rune.mints} mints are used, and ${pending + promised} mints wait for a block.`;
}
