import type { NameRivals } from '#chain/runes/name-standing.queries.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { maturityBlocks } from '#kernel/runes/rune.ts';
import { formatSpacedRune, type SpacedRune } from '#kernel/runes/spaced-rune.ts';

/**
 * The first block that could have the reveal of an etching whose commit is not sent yet: the next block has the commit.
 *
 * @param tip of the index; null: no block is indexed
 */
export const earliestReveal = (tip: number | null): number => (tip ?? -1) + 1 + maturityBlocks;

/**
 * The reason why an order cannot etch a name, as a sentence; null: it can. A pending etching of the same name counts if
 * the block at `height`, or an earlier one, may have it. Pure.
 *
 * @param height of the first block that could have the reveal @param own txid of the order's reveal, which is not its
 * own rival; null: there is none yet
 */
export function nameFault(
  name: string,
  { rune, unlock, claims }: NameRivals,
  height: number,
  own: Txid | null = null,
): string | null {
  if (rune !== null)
    return `The rune ${name} was already etched, in block ${rune.height}. Choose another name.`;
  if (unlock === null) return `The name ${name} is reserved: no one can choose it.`;
  if (height < unlock)
    return `The name ${name} is locked until block ${unlock}: the first block that could etch it for this order is ${height}.`;
  const rival = claims?.find(
    ({ txid, state, matureHeight }) =>
      mayEtch(state, matureHeight, height) && (own === null || Buffer.compare(txid, own) !== 0),
  );
  return rival === undefined
    ? null
    : `The pending transaction ${displayHash(rival.txid)} etches the name ${name}. Choose another name.`;
}

/**
 * The reason why a stored reveal, which the block after `tip` may have, cannot etch its name; null: it can. Pending
 * transactions do not count if it is unknown whether they can etch: anyone can send one for a small fee, and the order
 * would lose the fee of its commit. Pure.
 */
export function nameFaultOfReveal(
  name: SpacedRune,
  rivals: NameRivals,
  tip: Height,
  reveal: Txid,
): string | null {
  const claims = rivals.claims?.filter(({ state }) => state !== 'unknown') ?? null;
  return nameFault(formatSpacedRune(name), { ...rivals, claims }, tip + 1, reveal);
}

/** Whether a pending etching in this state (docs/mempool.md) may become a rune in a block up to `height`. */
function mayEtch(state: string, matureHeight: number | null, height: number): boolean {
  if (state === 'open' || state === 'unknown') return true;
  return state === 'immature' && (matureHeight === null || matureHeight <= height);
}
