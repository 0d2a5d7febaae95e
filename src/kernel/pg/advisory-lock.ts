import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/** Our advisory locks. The numbers are part of the protocol between processes: never change one. */
export const advisoryLocks = {
  /** The one process that applies blocks to a database. */
  writer: 7_700_100,
  /** The one process that seals segments of the search index. */
  sealer: 7_700_101,
  /** The one process that follows the chain with the index of a search engine that is in use. */
  searchSync: 7_700_102,
  /** The one process that builds another such index. */
  searchBuild: 7_700_103,
  /** The one process that looks for payments to watched scripts. */
  payments: 7_700_104,
  /** The one process that advances orders: it signs and broadcasts. */
  orders: 7_700_105,
  /** The one process that fills derived tables for blocks that were indexed before. */
  catchUp: 7_700_106,
  /** The one connection that builds a secondary index; used with the hash of the index's name. */
  indexBuild: 7_700_107,
  /** Shared by the processes that index and serve; exclusive for a command that takes blocks back. */
  service: 7_700_108,
  /** The one process that gives rights to the role that answers requests. */
  readerRights: 7_700_109,
  /** The one process that audits orders. */
  audit: 7_700_110,
  /** The one process that deletes files of orders. */
  files: 7_700_111,
  /** The one process that traces the outputs that define satributes. */
  provenance: 7_700_112,
  /** The one connection that releases indices of the wallet; used with the number of its release. */
  walletRelease: 7_700_113,
  /** The one transaction that raises the wallet's mark. */
  walletMark: 7_700_114,
  /** The one transaction that reserves a sat of the inventory, and counts the reserved ones. */
  reservations: 7_700_115,
  /** The one transaction that asks for payouts: two at once never see the same money. */
  payouts: 7_700_116,
  /** The one transaction that creates a collection without a key, and counts those that wait for the operator. */
  undecidedCollections: 7_700_117,
  /** The one process that credits payments of shops' orders. */
  tokenOrders: 7_700_118,
  /** The one transaction that makes a payment for a test, and counts the used part of its budget. */
  testPayments: 7_700_121,
  /** The one process that proves reserves of accounts. */
  tokenReserves: 7_700_119,
  /**
   * The one transaction that posts to the ledger of a subject; used with a hash of the subject. A trigger takes it,
   * too.
   */
  ledger: 7_700_120,
} as const;
export type AdvisoryLock = keyof typeof advisoryLocks;

/**
 * Takes a lock for the life of the client's connection, so it is released even if the process dies. Throws
 * `database_busy` if another connection holds it.
 */
export async function takeAdvisoryLock(client: pg.ClientBase, lock: AdvisoryLock): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    advisoryLocks[lock],
  ]);
  if (rows[0]?.taken === true) return;
  throw new AppError('database_busy', `Another process holds the ${lock} lock of this database.`, { lock });
}

/**
 * Whether any connection to this database holds a lock. Takes no lock, so another process may take the lock at any
 * time.
 */
export async function isAdvisoryLockHeld(
  client: pg.Pool | pg.ClientBase,
  lock: AdvisoryLock,
): Promise<boolean> {
  const { rowCount } = await client.query(
    `SELECT FROM pg_locks WHERE locktype = 'advisory' AND classid = 0 AND objid = $1 AND objsubid = 1 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [advisoryLocks[lock]],
  );
  return rowCount !== 0;
}
