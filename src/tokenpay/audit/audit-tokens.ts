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
 * Proves what accounts of shops hold: each rune against the index (ledger + set aside + not credited yet = what the
 * addresses of charges hold, and what withdrawals left), balances against the ledger, entries of each order against its
 * credits, those of withdrawals and what balances reserve against these, and credits against the payments in blocks. All at one block, in one snapshot, grouped by the database. Runes are compared where the index
 * knows them. Changes nothing.
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
    ...(isComparable ? await supplyFaults(tx) : []),
  ];
}
