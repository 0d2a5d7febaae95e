import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';

/**
 * Number of blocks that are remembered, up to the offset. Inputs of confirmed payments are kept for the same number of
 * blocks. A deeper reorganisation is also handled: all blocks since the oldest watch are scanned again.
 */
export const rememberedBlocks = 144;

/** SQL: the hash of the last block scanned for payments, in internal order. Null if no block was scanned. */
export const paymentsTipHash = '(SELECT hash FROM service.payments_offset)';

/** SQL: the height of the last block scanned for payments. Null if no block was scanned. */
export const paymentsTipHeight = '(SELECT height FROM service.payments_offset)';

export interface PaymentsOffset extends BlockRef {
  /** Number of watched scripts. Scripts whose watches ended in the last minute may be included. */
  readonly scripts: number;
}

/** The block and the time up to which payments are known. */
export interface KnownPayments extends PaymentsOffset {
  /** The time up to which all payments are known. Null if there is no such time yet. */
  readonly completeAt: Date | null;
}

/** The last block scanned for payments. Returns null if no block was scanned. */
export async function readPaymentsOffset(client: pg.Pool | pg.ClientBase): Promise<KnownPayments | null> {
  const { rows } = await client.query<KnownPayments>(
    'SELECT height, hash, scripts, complete_at AS "completeAt" FROM service.payments_offset',
  );
  return rows[0] ?? null;
}

/** Stores the time up to which all payments are known. */
export async function writeCompleteAt(client: pg.ClientBase, at: Date): Promise<void> {
  await client.query('UPDATE service.payments_offset SET complete_at = greatest(complete_at, $1)', [at]);
}

/** The remembered blocks, ascending. The last block is the offset. */
export async function readPaymentBlocks(client: pg.ClientBase): Promise<BlockRef[]> {
  const { rows } = await client.query<BlockRef>(
    'SELECT height, hash FROM service.payment_blocks ORDER BY height',
  );
  return rows;
}

/** Advances the offset to a block. Deletes blocks and inputs that are too deep to be remembered. */
export async function moveOffset(
  tx: pg.ClientBase,
  { height, hash }: BlockRef,
  before: BlockRef | null,
  scripts: number,
): Promise<void> {
  await writeOffset(tx, { height, hash, scripts });
  await tx.query('INSERT INTO service.payment_blocks (height, hash) VALUES ($1, $2)', [height, hash]);
  const deep = height - rememberedBlocks;
  await tx.query('DELETE FROM service.payment_blocks WHERE height <= $1', [deep]);
  await tx.query(
    `DELETE FROM service.payment_inputs AS i USING service.payments_seen AS p
      WHERE p.txid = i.txid AND p.height > $1 AND p.height <= $2`,
    [(before?.height ?? height) - rememberedBlocks, deep],
  );
}

/**
 * Sets the offset to the last of these blocks, and skips the blocks in between. Call it only if no script is watched,
 * or all blocks will be scanned again.
 */
export async function jumpOffset(
  tx: pg.ClientBase,
  blocks: readonly BlockRef[],
  scripts: number,
): Promise<void> {
  const tip = blocks.at(-1);
  assert(tip !== undefined, 'an offset is a block');
  await writeOffset(tx, { height: tip.height, hash: tip.hash, scripts });
  await tx.query('DELETE FROM service.payment_blocks');
  await tx.query(
    `INSERT INTO service.payment_blocks (height, hash) SELECT * FROM unnest($1::integer[], $2::bytea[])`,
    [blocks.map(({ height }) => height), blocks.map(({ hash }) => hash)],
  );
}

/** Moves the offset back to a remembered block. */
export async function stepOffsetBack(
  tx: pg.ClientBase,
  { height, hash }: BlockRef,
  scripts: number,
): Promise<void> {
  await writeOffset(tx, { height, hash, scripts });
  await tx.query('DELETE FROM service.payment_blocks WHERE height > $1', [height]);
}

/** Stores the number of watched scripts, if it changed. */
export async function writeScriptCount(client: pg.ClientBase, scripts: number): Promise<void> {
  await client.query(
    'UPDATE service.payments_offset SET scripts = $1, updated_at = now() WHERE scripts <> $1',
    [scripts],
  );
}

async function writeOffset(tx: pg.ClientBase, { height, hash, scripts }: PaymentsOffset): Promise<void> {
  await tx.query(
    `INSERT INTO service.payments_offset (height, hash, scripts, updated_at) VALUES ($1, $2, $3, now())
         ON CONFLICT (one) DO UPDATE SET height = excluded.height, hash = excluded.hash,
            scripts = excluded.scripts, updated_at = excluded.updated_at`,
    [height, hash, scripts],
  );
}
