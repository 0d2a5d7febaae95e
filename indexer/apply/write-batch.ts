import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { copyBinary } from '#kernel/pg/copy-binary.ts';
import { int4Array } from '#kernel/pg/int4-array.ts';
import type { PipelinedTransactions, SentStatements } from '#kernel/pg/transaction.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { seam } from '#kernel/process/failpoint.ts';
import type { Batch, LeftRows } from './batch.ts';
import { type BatchTable, copyTargets } from './block-rows.ts';
import type { OutboxWriter } from './outbox-rows.ts';

const tables = Object.keys(copyTargets) as BatchTable[];

export interface BatchWrite {
  /** The epoch of the derived tables for which the batch was made. */
  readonly epoch: number;
  /**
   * True if more batches follow at once. The commit then does not wait for the disk: the commit of the last batch waits
   * for all.
   */
  readonly isBulk: boolean;
  readonly outbox: OutboxWriter;
  /** Transactions of the connection. */
  readonly transactions: PipelinedTransactions;
  /** Whether the next batch is being prepared. If so, its transaction begins with the commit of this batch. */
  readonly isFollowed: () => boolean;
}

/**
 * Writes a batch of whole blocks in one transaction. Compares and sets the tip, ends locations with one UPDATE, runs
 * the statements of the outbox and of derived tables, and runs one COPY per table with new rows. That is a dozen
 * statements for any number of blocks. They are sent without waiting for answers. When the texts of events are
 * deflated, the rows of the outbox follow, and then the commit. Throws `tip_changed` if the tip is not the one that the
 * batch was made for, and `derived_tables_changed` if the writer must follow other derived tables by now.
 *
 * @param client pipelined
 */
export async function writeBatch(
  client: pg.Client,
  batch: Batch,
  { epoch, isBulk, outbox, transactions, isFollowed }: BatchWrite,
): Promise<void> {
  const { before, after, keptEventBlocks } = batch;
  const forgetUpTo = keptEventBlocks === null ? null : (after.tip?.height ?? -1) - keptEventBlocks;
  const send = (tx: pg.ClientBase): SentStatements => {
    const decisive = [moveTip(tx, batch, epoch), endLocations(tx, batch.left), batch.derived.write(tx)];
    const rest: Promise<unknown>[] = [];
    if (isBulk) rest.push(tx.query('SET LOCAL synchronous_commit = off'));
    for (const table of tables) {
      const encoder = batch.encoders[table];
      if (encoder.rows > 0) rest.push(copyBinary(tx, copyTargets[table], encoder));
    }
    // the server is busy with the rows above until the texts of the last block are deflated
    const sendOutbox = async (): Promise<Promise<unknown>[]> => {
      const events = await Promise.all(batch.storedEvents);
      await seam('deflated');
      return outbox.send(tx, events, forgetUpTo);
    };
    const later = sendOutbox();
    return { decisive: [...decisive, later.then(() => seam('transaction'))], rest, later };
  };
  try {
    if (!outbox.isPrepared) {
      // its statements may need a transaction of their own
      await transactions.end();
      await outbox.prepare(client, batch.events, before.tip === null);
    }
    await seam('prepared');
    await transactions.run(send, isFollowed);
    outbox.committed();
  } catch (error) {
    outbox.forget();
    if (error instanceof AppError && error.code === 'tip_changed') await refuseOldTables(client, epoch);
    throw error;
  }
}

async function refuseOldTables(client: pg.Client, epoch: number): Promise<void> {
  const { rows } = await client.query<{ epoch: number }>('SELECT derived_epoch AS epoch FROM chain.state');
  if (rows[0]?.epoch === epoch) return;
  throw new AppError('derived_tables_changed', 'Meanwhile the writer has taken over another derived table.');
}

/** Ends locations of earlier batches. Locations of this batch already have their end (fill-batch.ts). */
async function endLocations(tx: pg.ClientBase, left: LeftRows): Promise<void> {
  if (left.key.length === 0) return;
  // sort by key, so that each page of the index is read once
  const order = Uint32Array.from(left.key.keys()).sort((a, b) => left.key[a]! - left.key[b]!);
  const { rowCount } = await tx.query(
    `UPDATE chain.locations l SET spent_height = ended.spent_height
     FROM unnest($1::integer[], $2::integer[], $3::integer[], $4::integer[]) AS ended(key, height, step, spent_height)
     WHERE l.key = ended.key AND l.height = ended.height AND l.step = ended.step AND l.spent_height IS NULL`,
    [left.key, left.height, left.step, left.spentHeight].map((column) => int4Array(column, order)),
  );
  assert(rowCount === left.key.length, 'a location that ends is not there');
}

/** Compares and sets the tip. Runs as the first statement, so that two writing processes wait for each other here. */
async function moveTip(tx: pg.ClientBase, { before, after }: Batch, epoch: number): Promise<void> {
  const { rowCount } = await tx.query(
    `UPDATE chain.state SET tip_height = $1, tip_hash = $2
     WHERE one AND tip_height IS NOT DISTINCT FROM $3 AND tip_hash IS NOT DISTINCT FROM $4
       AND derived_epoch = $5`,
    [...columnsOf(after.tip), ...columnsOf(before.tip), epoch],
  );
  if (rowCount === 1) return;
  throw new AppError(
    'tip_changed',
    'The tip is not where the last batch left it, because another process wrote to the database.',
    {
      expected: before.tip?.height ?? null,
    },
  );
}

function columnsOf(tip: BlockRef | null): [height: Height | null, hash: BlockHash | null] {
  return tip === null ? [null, null] : [tip.height, tip.hash];
}
