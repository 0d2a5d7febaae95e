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
  /** Reads all of `chain` and `service`. */
  readonly database: pg.Pool | pg.ClientBase;
  readonly signal?: AbortSignal;
  /** Looks until a difference counts: blocks may just have moved what differs. */
  readonly looks?: number;
}

const looksUsual = 12;
const lookAgainMs = 1_000;

/**
 * Proves what accounts of shops hold. All is read at one block, in one snapshot, grouped by the database:
 * - each rune by the index, where that knows runes: the ledger, what is set aside and what is not credited yet are
 *   together what addresses of charges hold and withdrawals left;
 * - balances by the ledger, and what they reserve by open withdrawals;
 * - entries of each order by its credits, and those of each batch by its completed withdrawals;
 * - credits by the payments in blocks.
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
