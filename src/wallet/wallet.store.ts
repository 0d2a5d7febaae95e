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

/** The row of the wallet. */
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
  /** Keyed by the names of the branches; empty while a restore writes their rows. */
  readonly next: Readonly<Partial<Record<IndexedBranch, number>>>;
}

/** Null: there is no wallet. */
export async function readWallet(db: pg.Pool | pg.ClientBase): Promise<StoredWallet | null> {
  const { rows } = await db.query<Row>(
    `SELECT network, account_xpub, master_fingerprint, created_at,
        (SELECT coalesce(json_object_agg(name, next_index), '{}') FROM service.wallet_branches) AS next
       FROM service.wallet`,
  );
  return rows[0] === undefined ? null : storedWallet(rows[0]);
}

/**
 * Stores the wallet, whose keys are handed out from `first` on. If the wallet is already stored, its indices move up to
 * there, never down. The caller has raised the mark (indices/mark-file.ts). Null: there is another wallet, and it
 * stays. From then on the database serves only the wallet's network, so that no other chain is watched for its
 * payments. Throws `network_mismatch` if it serves another one.
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

/** False: there is another wallet. */
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
 * No index below `first` is handed out from then on. A branch that exists keeps its release, unless it moves on:
 * processes may have indices below `first` in memory.
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
 * Writes the descriptors of branches that have none yet: a migration made the branches, and SQL derives no checksum.
 * Throws if a branch has another descriptor: its addresses would not be those of the wallet.
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
