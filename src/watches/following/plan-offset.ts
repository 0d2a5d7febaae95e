import type { IndexPosition } from '#chain/arrivals/arrived-blocks.queries.ts';
import type { WatchesOffset } from '#watches/store/watches-offset.store.ts';

/**
 * How watches continue:
 *
 * - `follow`: from the known offset.
 * - `begin`: for the first time, after the row of the outbox that was the last when the oldest watch was stored.
 * - `jump`: nothing before the end of the outbox is matched. `offset` is the new offset.
 * - `restart`: in the outbox of another index, above the height that was matched before.
 */
export type OffsetPlan =
  | { readonly kind: 'follow'; readonly offset: WatchesOffset }
  | { readonly kind: 'begin'; readonly sequence: number; readonly position: number }
  | { readonly kind: 'jump'; readonly offset: WatchesOffset }
  | { readonly kind: 'restart'; readonly height: number };

/**
 * Decides how watches continue. The blocks of a first sync are old, so they are not matched. An index that is made
 * again has the same blocks in another outbox, and watches continue above the last block that was matched.
 *
 * @param position the highest position of the mempool's tables; null if no mempool is followed
 * @param since the last row of the outbox when the oldest active watch was stored; null if no watch is active
 */
export function planOffset(
  known: WatchesOffset | null,
  index: IndexPosition,
  { position, since }: { readonly position: number | null; readonly since: number | null },
): OffsetPlan {
  const { identity, lastSequence: sequence, height, isCatchingUp } = index;
  if (known === null) return firstPlan(index, position ?? 0, since);
  const tip = tipOf(index);
  if (since === null) return { kind: 'jump', offset: { ...tip, position: position ?? known.position } };
  if (known.identity !== identity) {
    const isNew = known.height < 0;
    return isNew
      ? { kind: 'jump', offset: { ...tip, position: known.position } }
      : { kind: 'restart', height: known.height };
  }
  // an index that is rebuilt has not reached the last matched block yet, or watches were never matched
  if (isCatchingUp && (known.height < 0 || height <= known.height))
    return { kind: 'jump', offset: { ...known, sequence } };
  return { kind: 'follow', offset: known };
}

/** Decides how watches begin. A block may come between the first watch and the first round, so it is matched, too. */
function firstPlan(index: IndexPosition, position: number, since: number | null): OffsetPlan {
  if (since === null || index.isCatchingUp) return { kind: 'jump', offset: { ...tipOf(index), position } };
  return { kind: 'begin', sequence: Math.min(since, index.lastSequence), position };
}

const tipOf = ({
  identity,
  lastSequence: sequence,
  height,
  isCatchingUp,
}: IndexPosition): Omit<WatchesOffset, 'position'> => ({
  identity,
  sequence,
  height: isCatchingUp ? -1 : height,
});
