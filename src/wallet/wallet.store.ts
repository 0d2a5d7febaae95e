import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { claimNetwork } from '#kernel/pg/served-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { type IndexedBranch, inventoryAddresses, walletBranches } from './branches.ts';
import { accountDescriptor } from './descriptors.ts';
import { type BranchEnds, endsBy } from './indices/branch-ends.ts';
import type { WalletIdentity } from './wallet-identity.ts';

/** The wallet in its stored form. */
export interface StoredWallet extends WalletIdentity {
  /** The first index of each branch that was never handed out. */
  readonly next: BranchEnds;
  readonly createdAt: Date;
}

interface Row {
  readonly network: NetworkName;
  readonly account_xpub: string;
  readonly master_fingerprint: string;
  readonly created_at: Date;
  /** Next indices by branch name. The object is empty while a restore writes the rows. */
  readonly next: Readonly<Partial<Record<IndexedBranch, number>>>;
}

/** The error if the database has no wallet. */
export const walletMissing = (): AppError => new AppError('wallet_missing', 'The database has no wallet.');

/** Reads the wallet. Returns null if there is no wallet. */
export async function readWallet(db: pg.Pool | pg.ClientBase): Promise<StoredWallet | null> {
  const { rows } = await db.query<Row>(
    `SELECT network, account_xpub, master_fingerprint, created_at,
        (SELECT coalesce(json_object_agg(name, next_index), '{}') FROM service.wallet_branches) AS next
       FROM service.wallet`,
  );
  return rows[0] === undefined ? null : storedWallet(rows[0]);
}

/**
 * Stores the wallet, whose indices are handed out from `first` on. If the wallet is already stored, its next indices
 * are raised to `first`, but never lowered. The caller must have raised the mark (indices/mark-file.ts). Returns null
 * if another wallet is stored, which then stays unchanged.
 *
 * From then on, the database serves only the wallet's network, so that payments to the wallet are never searched on
 * another chain. Throws `network_mismatch` if the database already serves another network.
 */
export function putWallet(
  db: pg.Pool | pg.ClientBase,
  wallet: WalletIdentity,
  first: BranchEnds,
): Promise<StoredWallet | null> {
  return withTransaction(db, async (tx) => {
    await serveNetwork(tx, wallet.network);
    if (!(await upsertWallet(tx, wallet))) return null;
    await upsertBranches(tx, wallet, first);
    return readWallet(tx);
  });
}

async function serveNetwork(tx: pg.ClientBase, network: NetworkName): Promise<void> {
  const served = await claimNetwork(tx, network);
  if (served !== network) {
    const message = `The wallet is of ${network}, but this database serves ${served}.`;
    throw new AppError('network_mismatch', message, { wallet: network, database: served });
  }
}

/** Inserts or updates the row of the wallet. Returns false if another wallet is stored. */
async function upsertWallet(
  tx: pg.ClientBase,
  { network, accountXpub, masterFingerprint }: WalletIdentity,
): Promise<boolean> {
  const { rowCount } = await tx.query(
    `INSERT INTO service.wallet AS stored (network, account_xpub, master_fingerprint) VALUES ($1, $2, $3)
     ON CONFLICT (one) DO UPDATE SET network = $1
     WHERE stored.network = $1 AND stored.account_xpub = $2 AND stored.master_fingerprint = $3`,
    [network, accountXpub, masterFingerprint],
  );
  return rowCount === 1;
}

/**
 * Makes sure that no index below `first` is handed out from now on. An existing branch keeps its release if its next
 * index is not raised. If it is raised, the release ends, because processes may have indices below `first` in memory.
 */
async function upsertBranches(tx: pg.ClientBase, wallet: WalletIdentity, first: BranchEnds): Promise<void> {
  for (const { number, name, scriptType } of walletBranches) {
    const next = name === 'inventory' ? inventoryAddresses : first[name];
    await tx.query(
      `INSERT INTO service.wallet_branches AS stored (number, name, script_type, descriptor, next_index, released_end)
       VALUES ($1, $2, $3, $4, $5, $5)
       ON CONFLICT (number) DO UPDATE SET
         descriptor = $4,
         next_index = greatest(stored.next_index, $5),
         released_end = greatest(stored.released_end, $5),
         release_session = CASE WHEN stored.next_index >= $5 THEN stored.release_session END`,
      [number, name, scriptType, accountDescriptor(wallet, number), next],
    );
  }
}

/**
 * Writes the missing descriptors of branches. They are missing after a migration creates a branch, because SQL cannot
 * compute the checksum. Throws if a branch has a different descriptor, because its addresses would not belong to the
 * wallet.
 */
export async function fillDescriptors(tx: pg.ClientBase, wallet: WalletIdentity): Promise<void> {
  for (const { number, name } of walletBranches) {
    const descriptor = accountDescriptor(wallet, number);
    const { rowCount } = await tx.query(
      'UPDATE service.wallet_branches SET descriptor = $2 WHERE number = $1 AND coalesce(descriptor, $2) = $2',
      [number, descriptor],
    );
    assert(rowCount === 1, `the branch ${name} of the database has the descriptor of the wallet`);
  }
}

const storedWallet = (row: Row): StoredWallet => ({
  network: row.network,
  accountXpub: row.account_xpub,
  masterFingerprint: row.master_fingerprint,
  next: endsBy((branch) => row.next[branch] ?? 0),
  createdAt: row.created_at,
});
