import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { TokenDifference } from './token-differences.ts';
import {
  areAtOneBlock,
  balanceFaults,
  creditFaults,
  entryFaults,
  reservedFaults,
  spentFaults,
  supplyFaults,
  withdrawalFaults,
} from './token-faults.queries.ts';

export interface TokenAuditParts {
  /** Connection that may read all of `chain` and `service`. */
  readonly database: pg.Pool | pg.ClientBase;
  readonly signal?: AbortSignal;
  /**
   * Maximum number of audit rounds before a difference is reported. A new block may have just caused the difference,
   * and a later round then finds none.
   */
  readonly looks?: number;
}

const looksUsual = 12;
const lookAgainMs = 1_000;

/**
 * Proves the holdings of accounts of shops. Reads everything at one block, in one snapshot, grouped by the database:
 * - each rune, by the index, if the index has runes: the units in the ledger, set aside, and not credited yet equal
 * the units at addresses of charges and in the change of withdrawals;
 * - balances, by the ledger, and their reserved units, by open withdrawals;
 * - entries of each order, by its credits, and entries of each batch, by its completed withdrawals;
 * - credits, by the payments in blocks.
 *
 * Changes nothing.
 */
export async function auditTokens(parts: TokenAuditParts): Promise<TokenDifference[]> {
  const { database, signal, looks = looksUsual } = parts;
  for (let look = 1; ; look++) {
    const found = await withTransaction(
      database,
      lookOnce,
      'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
    );
    if (found.length === 0 || look >= looks) return found;
    await sleep(lookAgainMs, undefined, signal === undefined ? {} : { signal });
  }
}

async function lookOnce(tx: pg.ClientBase): Promise<TokenDifference[]> {
  const runes = await runeStanding(tx);
  const isComparable = runes.state === 'known' && (await areAtOneBlock(tx));
  return [
    ...(await balanceFaults(tx)),
    ...(await entryFaults(tx)),
    ...(await creditFaults(tx)),
    ...(await withdrawalFaults(tx)),
    ...(await reservedFaults(tx)),
    ...(await spentFaults(tx)),
    ...(isComparable ? await supplyFaults(tx) : []),
  ];
}
