import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { failpoint } from '#kernel/failpoint.ts';
import { copyBinary } from '#kernel/pg/copy-binary.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Batch, LeftRows } from './batch.ts';
import { type CopyTarget, copyTargets } from './block-rows.ts';
import { addToOutbox, deflateTexts } from './outbox-rows.ts';

const targets = Object.keys(copyTargets) as CopyTarget[];

/**
 * Writes a batch of whole blocks in one transaction: a COPY for each table that gets rows, one UPDATE for the
 * locations that end, two statements for the outbox, those of derived tables, and the tip, compared and set. Fifteen
 * statements at most, however many blocks. Throws `tip_changed` where the tip is not the one that the batch was made
 * for, and `derived_tables_changed` where the writer must follow other derived tables by now.
 *
 * @param epoch of the derived tables that the batch was made for
 *
 * @param isBulk more batches follow at once: no wait for the disk, because the commit of the last batch waits for all
 * of them
 */
export async function writeBatch(
  client: pg.ClientBase,
  batch: Batch,
  epoch: number,
  isBulk: boolean,
): Promise<void> {
  const begin = isBulk ? 'BEGIN; SET LOCAL synchronous_commit = off' : 'BEGIN';
  const { before, after, keptEventBlocks } = batch;
  const addition = {
    blocks: await deflateTexts(batch.events),
    forgetUpTo: keptEventBlocks === null ? null : (after.tip?.height ?? -1) - keptEventBlocks,
    isFirst: before.tip === null,
  };
  await withTransaction(
    client,
    async (tx) => {
      await addToOutbox(tx, addition);
      for (const target of targets) {
        const encoder = batch.encoders[target];
        if (encoder.rows === 0) continue;
        const [table, columns] = copyTargets[target];
        await copyBinary(tx, `${table} (${columns})`, encoder);
      }
      await endLocations(tx, batch.left);
      await batch.derived.write(tx);
      failpoint('transaction');
      await moveTip(tx, batch, epoch);
    },
    begin,
  );
}

async function endLocations(tx: pg.ClientBase, left: LeftRows): Promise<void> {
  if (left.key.length === 0) return;
  const { rowCount } = await tx.query(
    `UPDATE chain.locations l SET spent_height = ended.spent_height
     FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[]) AS ended(key, height, step, spent_height)
     WHERE l.key = ended.key AND l.height = ended.height AND l.step = ended.step AND l.spent_height IS NULL`,
    [left.key, left.height, left.step, left.spentHeight],
  );
  assert(rowCount === left.key.length, 'a location that ends is not there');
}

async function moveTip(tx: pg.ClientBase, { before, after }: Batch, epoch: number): Promise<void> {
  const { rowCount } = await tx.query(
    `UPDATE chain.state SET tip_height = $1, tip_hash = $2
     WHERE one AND tip_height IS NOT DISTINCT FROM $3 AND tip_hash IS NOT DISTINCT FROM $4
       AND derived_epoch = $5`,
    [...columnsOf(after.tip), ...columnsOf(before.tip), epoch],
  );
  if (rowCount === 1) return;
  const { rows } = await tx.query<{ epoch: number }>('SELECT derived_epoch AS epoch FROM chain.state');
  if (rows[0]?.epoch !== epoch) {
    throw new AppError('derived_tables_changed', 'The writer has taken over another derived table.');
  }
  throw new AppError('tip_changed', 'The tip is not where the last batch left it: another process wrote.', {
    expected: before.tip?.height ?? null,
  });
}

function columnsOf(tip: BlockRef | null): [height: Height | null, hash: BlockHash | null] {
  return tip === null ? [null, null] : [tip.height, tip.hash];
}
