import type { BackupManifest } from '#backups/backup-manifest.ts';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { type BranchEnds, endsBy } from '#wallet/indices/branch-ends.ts';
import { PublicWallet } from '#wallet/public-wallet.ts';
import { findOutputs, type SearchProgress } from '#wallet/restoring/find-outputs.ts';

export interface ChainSearch {
  readonly node: NodeRpc;
  readonly wallet: NonNullable<BackupManifest['wallet']>;
  /** Ends of the indices that are known to have been shown. */
  readonly known: BranchEnds;
  /** Number of consecutive indices without an output after which the search ends. */
  readonly gap: number;
  readonly signal: AbortSignal;
  readonly onProgress: (progress: SearchProgress) => void;
}

/**
 * Ends of the indices that unspent outputs of the chain use, or the known ends if these are higher. Addresses with a
 * leaf cannot be searched, because only the rows of their orders have the leaf. Orders after the backup have no rows.
 */
export async function highestOfChain({ wallet, gap, ...search }: ChainSearch): Promise<BranchEnds> {
  const { searched } = await findOutputs({ ...search, gap, wallet: new PublicWallet(wallet), leaves: [] });
  // the search ends `gap` indices after the last used one
  return endsBy((branch) => searched[branch] - gap);
}
