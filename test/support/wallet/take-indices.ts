import type pg from 'pg';
import { type IndexedBranch, indexedBranches } from '#wallet/branches.ts';
import { type BranchEnds, endsBy } from '#wallet/indices/branch-ends.ts';
import { leaseIndices } from '#wallet/indices/release.store.ts';

/** Takes indices in the caller's transaction, without keeping any in memory. Returns the first index of each branch. */
export async function takeIndices(tx: pg.ClientBase, counts: Partial<BranchEnds>): Promise<BranchEnds> {
  const first = new Map<IndexedBranch, number>();
  for (const branch of indexedBranches) {
    const count = counts[branch] ?? 0;
    if (count > 0) first.set(branch, (await leaseIndices(tx, branch, { least: count, most: count })).first);
  }
  return endsBy((branch) => first.get(branch) ?? 0);
}
