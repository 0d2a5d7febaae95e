import type { IndexPosition } from '#chain/arrivals/arrived-blocks.queries.ts';
import type { WatchesOffset } from '#watches/store/watches-offset.store.ts';

/**
 * How watches continue:
 *
 * - `follow`: from the known offset.
 * - `jump`: nothing before the end of the outbox is matched. `offset` is the new offset.
 * - `restart`: in the outbox of another index, above the height that was matched before.
 */
export type OffsetPlan =
  | { readonly kind: 'follow'; readonly offset: WatchesOffset }
  | { readonly kind: 'jump'; readonly offset: WatchesOffset }
  | { readonly kind: 'restart'; readonly height: number };

/**
 * Decides how watches continue. The blocks of a first sync are old, so they are not matched. An index that is made
 * again has the same blocks in another outbox, and watches continue above the last block that was matched.
 *
 * @param position the highest position of the mempool's tables; null if no mempool is followed
 */
export function planOffset(
  known: WatchesOffset | null,
  { identity, lastSequence: sequence, height, isCatchingUp }: IndexPosition,
  { position, hasWatches }: { readonly position: number | null; readonly hasWatches: boolean },
): OffsetPlan {
  const tip = { identity, sequence, height: isCatchingUp ? -1 : height };
  if (known === null) return { kind: 'jump', offset: { ...tip, position: position ?? 0 } };
  if (!hasWatches) return { kind: 'jump', offset: { ...tip, position: position ?? known.position } };
  if (known.identity !== identity) {
    const isNew = known.height < 0;
    return isNew
      ? { kind: 'jump', offset: { ...tip, position: known.position } }
      : { kind: 'restart', height: known.height };
  }
  // an index that is made again has not reached the last matched block yet, or watches were never matched
  if (isCatchingUp && (known.height < 0 || height <= known.height))
    return { kind: 'jump', offset: { ...known, sequence } };
  return { kind: 'follow', offset: known };
}
