import type { NameRivals } from '#chain/runes/name-standing.queries.ts';
import { displayHash, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { maturityBlocks } from '#kernel/runes/rune.ts';
import { formatSpacedRune, type SpacedRune } from '#kernel/runes/spaced-rune.ts';

/**
 * Height of the first block that could contain the reveal of an etching whose commit is not sent yet. It is assumed
 * that the next block contains the commit.
 *
 * @param tip height of the index's tip; null if no block is indexed
 */
export const earliestReveal = (tip: number | null): number => (tip ?? -1) + 1 + maturityBlocks;

/**
 * The reason why an order cannot etch a name, as a sentence. Null if the order can etch the name. A pending etching of
 * the same name is a reason if the block at `height` or an earlier block may contain this etching. Pure.
 *
 * @param height height of the first block that could contain the reveal
 * @param own txid of the order's reveal, which is not a rival of itself; null if there is no reveal yet
 */
export function nameFault(
  name: string,
  { rune, unlock, claims }: NameRivals,
  height: number,
  own: Txid | null = null,
): string | null {
  if (rune !== null)
    return `The rune ${name} was already etched, in block ${rune.height}. Choose another name.`;
  if (unlock === null) return `The name ${name} is reserved, so no one can choose it.`;
  if (height < unlock)
    return `The name ${name} is locked until block ${unlock}, but the first block that could have this etching is ${height}.`;
  const rival = claims?.find(
    ({ txid, state, matureHeight }) =>
      mayEtch(state, matureHeight, height) && (own === null || Buffer.compare(txid, own) !== 0),
  );
  return rival === undefined
    ? null
    : `The pending transaction ${displayHash(rival.txid)} etches the name ${name}. Choose another name.`;
}

/**
 * The reason why a stored reveal cannot etch its name in the block after `tip`; null if the reveal can etch the name.
 * Pending transactions are ignored if it is unknown whether they can etch. Otherwise anyone could send such a
 * transaction for a small fee, and the order would lose the fee of its commit. Pure.
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

/** Whether a pending etching in this state (docs/mempool.md) may etch its rune in a block up to `height`. */
function mayEtch(state: string, matureHeight: number | null, height: number): boolean {
  if (state === 'open' || state === 'unknown') return true;
  return state === 'immature' && (matureHeight === null || matureHeight <= height);
}
