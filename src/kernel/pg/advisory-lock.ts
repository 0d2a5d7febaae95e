import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';

/** Advisory locks of this program. The numbers are part of the protocol between processes, so never change a number. */
export const advisoryLocks = {
  /** Lock of the process that applies blocks to a database. */
  writer: 7_700_100,
  /** Lock of the process that seals segments of the search index. */
  sealer: 7_700_101,
  /** Lock of the process that updates the index of the active search engine with the chain. */
  searchSync: 7_700_102,
  /** Lock of the process that builds the index of another search engine. */
  searchBuild: 7_700_103,
  /** Lock of the process that searches for payments to watched scripts. */
  payments: 7_700_104,
  /** Lock of the process that advances orders. It signs and broadcasts their transactions. */
  orders: 7_700_105,
  /** Lock of the process that fills derived tables for blocks that were indexed before. */
  catchUp: 7_700_106,
  /** Lock of the connection that builds a secondary index. It is used with the hash of the index's name. */
  indexBuild: 7_700_107,
  /** Lock that all processes that index or serve share. A command that takes blocks back holds it exclusively. */
  service: 7_700_108,
  /** Lock of the process that grants rights to the role that answers requests. */
  readerRights: 7_700_109,
  /** Lock of the process that audits orders. */
  audit: 7_700_110,
  /** Lock of the process that deletes files of orders. */
  files: 7_700_111,
  /** Lock of the process that traces the outputs that define satributes. */
  provenance: 7_700_112,
  /** Lock of the connection that releases indices of the wallet. It is used with the number of the release. */
  walletRelease: 7_700_113,
  /** Lock of the transaction that raises the wallet's mark. */
  walletMark: 7_700_114,
  /** Lock of the transaction that reserves a sat of the inventory, and counts the reserved sats. */
  reservations: 7_700_115,
  /** Lock of the transaction that requests payouts, so that two requests at once never use the same money. */
  payouts: 7_700_116,
  /**
   * Lock of the transaction that creates a collection without a key, and counts collections that wait for the operator.
   */
  undecidedCollections: 7_700_117,
  /** Lock of the process that credits payments of shops' orders. */
  tokenOrders: 7_700_118,
  /** Lock of the transaction that makes a payment for a test, and counts the used part of the test's budget. */
  testPayments: 7_700_121,
  /** Lock of the process that matches watches with blocks and the mempool. */
  watches: 7_700_122,
  /** Lock of the process that proves reserves of accounts. */
  tokenReserves: 7_700_119,
  /**
   * Lock of the transaction that posts to the ledger of a subject. It is used with a hash of the subject. A trigger
   * takes this lock, too.
   */
  ledger: 7_700_120,
} as const;
export type AdvisoryLock = keyof typeof advisoryLocks;

/**
 * Takes a lock until the client's connection ends, so the lock is released even if the process dies. Throws
 * `database_busy` if another connection holds the lock.
 */
export async function takeAdvisoryLock(client: pg.ClientBase, lock: AdvisoryLock): Promise<void> {
  const { rows } = await client.query<{ taken: boolean }>('SELECT pg_try_advisory_lock($1) AS taken', [
    advisoryLocks[lock],
  ]);
  if (rows[0]?.taken === true) return;
  throw new AppError('database_busy', `Another process holds the ${lock} lock of this database.`, { lock });
}

/**
 * Whether any connection to this database holds a lock. This function does not take the lock, so another process may
 * take it at any time.
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
