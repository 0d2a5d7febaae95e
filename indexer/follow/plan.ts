import type { BlockRef } from '#kernel/contracts/block-source.ts';

export interface Plan {
  /** Take back everything above this height (-1: everything there is); null: nothing is to be taken back. */
  readonly undoTo: number | null;
  /** Then apply these, in this order. */
  readonly apply: readonly BlockRef[];
}

/**
 * The way from our chain to theirs: back to the last block of the beginning that both share, then on. Both ascend by
 * height and may have gaps; what fills a gap of ours comes before blocks that we have, so those are applied anew.
 */
export function plan(ours: readonly BlockRef[], theirs: readonly BlockRef[]): Plan {
  let shared = 0;
  while (shared < ours.length && shared < theirs.length && sameRef(ours[shared], theirs[shared])) shared++;
  const undoTo = shared === ours.length ? null : (ours[shared - 1]?.height ?? -1);
  return { undoTo, apply: theirs.slice(shared) };
}

function sameRef(a: BlockRef | undefined, b: BlockRef | undefined): boolean {
  if (a === undefined || b === undefined || a.height !== b.height) return false;
  return a.hash.length === b.hash.length && a.hash.every((byte, index) => byte === b.hash[index]);
}
