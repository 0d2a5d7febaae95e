import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { claimNetwork } from '#kernel/pg/served-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
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
 * Stores the wallet, whose keys are handed out from `firstIndex` on. Of the same wallet it moves both indices up to
 * there, never down. Null: there is another wallet, and it stays. From then on the database serves the wallet's network
 * alone, so that no other chain is watched for its payments. Throws `network_mismatch` where it serves another one.
 */
export function putWallet(
  db: pg.Pool | pg.ClientBase,
  wallet: WalletIdentity,
  firstIndex: number,
): Promise<StoredWallet | null> {
  return withTransaction(db, async (tx) => {
    await serveNetwork(tx, wallet.network);
    return upsertWallet(tx, wallet, firstIndex);
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
  firstIndex: number,
): Promise<StoredWallet | null> {
  const { rows } = await tx.query<Row>(
    `INSERT INTO service.wallet AS stored
       (network, account_xpub, master_fingerprint, next_order_index, next_own_index)
     VALUES ($1, $2, $3, $4, $4)
     ON CONFLICT (one) DO UPDATE SET
       next_order_index = greatest(stored.next_order_index, $4),
       next_own_index = greatest(stored.next_own_index, $4)
     WHERE stored.network = $1 AND stored.account_xpub = $2 AND stored.master_fingerprint = $3
     RETURNING network, account_xpub, master_fingerprint, next_order_index, next_own_index, created_at`,
    [network, accountXpub, masterFingerprint, firstIndex],
  );
  return rows[0] === undefined ? null : storedWallet(rows[0]);
}

/**
 * The index of an order's key, which no other order gets. The row is locked until the transaction ends, so it is
 * short; where it is rolled back, nobody was told the index. Throws `wallet_missing`.
 */
export async function nextOrderIndex(tx: pg.ClientBase): Promise<number> {
  const { rows } = await tx.query<{ index: number }>(
    'UPDATE service.wallet SET next_order_index = next_order_index + 1 RETURNING next_order_index - 1 AS index',
  );
  return indexOf(rows);
}

/** The index of a key for an output of the service's own: as `nextOrderIndex`, of branch 1. Throws `wallet_missing`. */
export async function nextOwnIndex(tx: pg.ClientBase): Promise<number> {
  const { rows } = await tx.query<{ index: number }>(
    'UPDATE service.wallet SET next_own_index = next_own_index + 1 RETURNING next_own_index - 1 AS index',
  );
  return indexOf(rows);
}

function indexOf(rows: readonly { readonly index: number }[]): number {
  if (rows[0] === undefined) throw new AppError('wallet_missing', 'The database has no wallet.');
  return rows[0].index;
}

const storedWallet = (row: Row): StoredWallet => ({
  network: row.network,
  accountXpub: row.account_xpub,
  masterFingerprint: row.master_fingerprint,
  nextOrderIndex: row.next_order_index,
  nextOwnIndex: row.next_own_index,
  createdAt: row.created_at,
});
