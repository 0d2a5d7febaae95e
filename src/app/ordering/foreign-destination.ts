import type pg from 'pg';
import { scriptToAddress } from '#kernel/bitcoin/address.ts';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { networks } from '#kernel/primitives/network.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { type BranchEnds, endsBy } from '#wallet/indices/branch-ends.ts';
import { readRelease } from '#wallet/indices/release.store.ts';
import { type CompareProgress, isOwnAddress } from '#wallet/restoring/find-outputs.ts';

/** Number of indices that are searched after the last shown index. One process releases this many at once. */
export const gapWithMark = 1000;

/** An address that a person named. It may still belong to the service; `requireForeign` checks this. */
export interface NamedDestination {
  readonly to: string;
  readonly script: Uint8Array;
}

/**
 * Throws `destination_own` for any address of the wallet. The node derives the addresses, so this includes addresses
 * that were never shown and that only the operator knows.
 */
export async function requireNotOwn(
  asked: Omit<ForeignTo, 'pool' | 'leaves'> & { readonly pool: pg.Pool },
  destination: NamedDestination,
): Promise<void> {
  const release = await readRelease(asked.pool);
  const until = endsBy((branch) => (release?.released[branch] ?? 0) + gapWithMark);
  await requireForeign({ ...asked, leaves: [] }, destination, { from: null, until });
}

/** The data with which a destination is compared, so that the service does not pay itself. */
export interface ForeignTo {
  readonly node: Parameters<typeof isOwnAddress>[0]['node'];
  readonly wallet: Parameters<typeof isOwnAddress>[0]['wallet'];
  readonly signal: AbortSignal;
  /** The database with the wallet's orders. `null` if no database is used. */
  readonly pool: pg.Pool | null;
  /** Scripts with leaves. No branch of the wallet contains these scripts. */
  readonly leaves: readonly Uint8Array[];
}

/**
 * Throws `destination_own` if the address belongs to the wallet (below the ends `until`), to an order, or to a leaf.
 * Addresses below `from` were already compared.
 */
export async function requireForeign(
  asked: ForeignTo,
  { to, script }: NamedDestination,
  range: { readonly from: BranchEnds | null; readonly until: BranchEnds },
  onProgress: (progress: CompareProgress) => void = () => undefined,
): Promise<void> {
  const { wallet, pool, leaves } = asked;
  // use the form that nodes return, because the given address may be in capitals
  const address = scriptToAddress(script, networks[wallet.network]) ?? to;
  const isOwn = async (): Promise<boolean> =>
    leaves.some((leaf) => Buffer.compare(leaf, script) === 0) ||
    (pool !== null && (await ownScriptsAmong(pool, [script])).length > 0) ||
    isOwnAddress(asked, address, range, onProgress);
  const [refused] = await checkDestinations([{ script, amount: null }], async (scripts) =>
    (await isOwn()) ? scripts : [],
  );
  if (refused !== undefined)
    throw new AppError('destination_own', `The address ${to} is an address of this wallet.`);
}
