import type pg from 'pg';
import { indexTipHash, indexTipHeight } from '#chain/blocks/index-tip.queries.ts';
import { runeStanding } from '#chain/runes/rune-standing.queries.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { type AccountBalance, readAllTokenBalances } from '#purse/ledger/token-balances.queries.ts';
import { type HeldOutput, readHeldOutputs, readTokenFees } from '#tokenpay/audit/held-outputs.queries.ts';
import {
  type HeldRune,
  type RuneParts,
  readHeldRunes,
  runeParts,
} from '#tokenpay/audit/rune-parts.queries.ts';
import { areAtOneBlock } from '#tokenpay/audit/token-faults.queries.ts';

/** Balances of accounts, and the wallet's holdings for these accounts, at one block and in one snapshot. */
export interface ReserveFacts {
  readonly block: BlockRef;
  readonly runes: readonly RuneParts[];
  /** Sats of base fees in the outputs, which belong to no account. */
  readonly fees: bigint;
  readonly balances: readonly AccountBalance[];
  readonly outputs: readonly HeldOutput[];
  readonly heldRunes: readonly HeldRune[];
}

/**
 * Reads the facts. Returns null if shops have no orders, or if the last block already has a document. Also returns null
 * if index and payments are at different blocks, or if runes are unknown.
 */
export async function readReserveFacts(
  client: pg.ClientBase,
  last: BlockHash | null,
): Promise<ReserveFacts | null> {
  return withTransaction(
    client,
    async (tx) => {
      const block = await blockToProve(tx);
      if (block === null || (last !== null && Buffer.compare(block.hash, last) === 0)) return null;
      return {
        block,
        runes: await runeParts(tx),
        fees: await readTokenFees(tx),
        balances: (await readAllTokenBalances(tx, null)).filter(({ amount }) => amount !== 0n),
        outputs: await readHeldOutputs(tx),
        heldRunes: await readHeldRunes(tx),
      };
    },
    'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY',
  );
}

async function blockToProve(tx: pg.ClientBase): Promise<BlockRef | null> {
  const { rows } = await tx.query<{ height: Height; hash: BlockHash }>(
    `SELECT ${indexTipHeight} AS height, ${indexTipHash} AS hash
      WHERE ${indexTipHash} IS NOT NULL AND EXISTS (SELECT FROM service.token_orders)`,
  );
  const [block] = rows;
  if (block === undefined || (await runeStanding(tx)).state !== 'known' || !(await areAtOneBlock(tx)))
    return null;
  return block;
}
