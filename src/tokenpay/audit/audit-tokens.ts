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
   * Maximum number of audit rounds before a difference is reported. A new block may have just caused the difference;
   * the next round then no longer finds it.
   */
  readonly looks?: number;
}

const looksUsual = 12;
const lookAgainMs = 1_000;

/**
 * Checks the holdings of shop accounts. Reads everything at one block, in one snapshot, and the database groups the
 * data. These amounts must be equal:
 * - for each rune, if the index has runes: the units in the ledger, set aside, and not credited yet must equal the
 *   units at addresses of charges and in the change of withdrawals;
 * - balances must equal the ledger, and reserved units must equal open withdrawals;
 * - entries of each order must match its credits, and entries of each batch must match its completed withdrawals;
 * - credits must match the payments in blocks.
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
