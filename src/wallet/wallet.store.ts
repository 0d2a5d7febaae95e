import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { claimNetwork } from '#kernel/pg/served-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import type { BranchEnds } from './indices/branch-ends.ts';
import type { WalletIdentity } from './wallet-identity.ts';

/** The row of the wallet. */
export interface StoredWallet extends WalletIdentity {
  /** The first index of each branch that was never handed out. */
  readonly nextOrderIndex: number;
  readonly nextOwnIndex: number;
  readonly createdAt: Date;
}

interface Row {
  readonly network: NetworkName;
  readonly account_xpub: string;
  readonly master_fingerprint: string;
  readonly next_order_index: number;
  readonly next_own_index: number;
  readonly created_at: Date;
}

/** Null: there is none. */
export async function readWallet(db: pg.Pool | pg.ClientBase): Promise<StoredWallet | null> {
  const { rows } = await db.query<Row>(
    `SELECT network, account_xpub, master_fingerprint, next_order_index, next_own_index, created_at
       FROM service.wallet`,
  );
  return rows[0] === undefined ? null : storedWallet(rows[0]);
}

/**
 * Stores the wallet, whose keys are handed out from `first` on. Of the same wallet it moves both indices up to there,
 * never down. The caller has raised the mark (indices/mark-file.ts). Null: there is another wallet, and it stays. From
 * then on the database serves the wallet's network alone, so that no other chain is watched for its payments. Throws
 * `network_mismatch` where it serves another one.
 */
export function putWallet(
  db: pg.Pool | pg.ClientBase,
  wallet: WalletIdentity,
  first: BranchEnds,
): Promise<StoredWallet | null> {
  return withTransaction(db, async (tx) => {
    await serveNetwork(tx, wallet.network);
    return upsertWallet(tx, wallet, first);
  });
}

async function serveNetwork(tx: pg.ClientBase, network: NetworkName): Promise<void> {
  const served = await claimNetwork(tx, network);
  if (served !== network) {
    const message = `The wallet is of ${network}, but this database serves ${served}.`;
    throw new AppError('network_mismatch', message, { wallet: network, database: served });
  }
}

async function upsertWallet(
  tx: pg.ClientBase,
  { network, accountXpub, masterFingerprint }: WalletIdentity,
  first: BranchEnds,
): Promise<StoredWallet | null> {
  const { rows } = await tx.query<Row>(
    `INSERT INTO service.wallet AS stored
       (network, account_xpub, master_fingerprint, next_order_index, next_own_index, released_order_end, released_own_end)
     VALUES ($1, $2, $3, $4, $5, $4, $5)
     ON CONFLICT (one) DO UPDATE SET
       next_order_index = greatest(stored.next_order_index, $4),
       next_own_index = greatest(stored.next_own_index, $5),
       released_order_end = greatest(stored.released_order_end, $4),
       released_own_end = greatest(stored.released_own_end, $5)
     WHERE stored.network = $1 AND stored.account_xpub = $2 AND stored.master_fingerprint = $3
     RETURNING network, account_xpub, master_fingerprint, next_order_index, next_own_index, created_at`,
    [network, accountXpub, masterFingerprint, first.orders, first.own],
  );
  return rows[0] === undefined ? null : storedWallet(rows[0]);
}

const storedWallet = (row: Row): StoredWallet => ({
  network: row.network,
  accountXpub: row.account_xpub,
  masterFingerprint: row.master_fingerprint,
  nextOrderIndex: row.next_order_index,
  nextOwnIndex: row.next_own_index,
  createdAt: row.created_at,
});
