import assert from 'node:assert/strict';
import type pg from 'pg';
import { type HashKey, hashKey, hashOfKey } from '#indexer/mempool/stream/membership.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { asTxid, type Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Sats } from '#kernel/primitives/sats.ts';
import type { FoundTransaction } from '#payments/memory/transaction-scan.ts';
import type { Spends, Unconfirmed } from '#payments/memory/unconfirmed-payments.ts';
import { lockWatches, lowerWatchesOfSeen } from './watches.store.ts';

/** Channel for notifications that payments changed. `readPaymentChanges` returns the changes. */
export const paymentsChannel = 'satscribe_payments';

/**
 * A transaction with payments. `firstSeenMs` is in ms since 1970. `spends` are the outpoints that the transaction and
 * its unconfirmed ancestors spend.
 */
export interface SeenTransaction {
  readonly found: FoundTransaction;
  readonly firstSeenMs: number;
  readonly spends: readonly Spends[];
}

/** The unconfirmed transaction `txid` lost an input, because the transaction `by` spends the same outpoint. */
export interface Replacement {
  readonly txid: HashKey;
  readonly by: HashKey;
}

interface PaymentRow {
  readonly txid: Txid;
  readonly vout: number;
  readonly script: Buffer;
  readonly value: Sats;
  readonly firstSeenMs: number;
}

/**
 * Selects the outputs of these transactions whose scripts are watched at this height. If `height` is null, the
 * transactions are in the mempool.
 */
async function watchedRows(
  tx: pg.ClientBase,
  transactions: readonly SeenTransaction[],
  height: Height | null,
): Promise<PaymentRow[]> {
  const rows = transactions.flatMap(({ found, firstSeenMs }) =>
    found.outputs.map((output) => ({ ...output, txid: asTxid(hashOfKey(found.txid)), firstSeenMs })),
  );
  if (rows.length === 0) return [];
  const scripts = rows.map(({ script }) => script);
  let since = await lockWatches(tx, scripts);
  const sinceOf = ({ script }: PaymentRow): number => since.get(script.toString('latin1')) ?? Infinity;
  if (height === null) return rows.filter((row) => sinceOf(row) < Infinity);
  const later = rows.filter((row) => sinceOf(row) > height && sinceOf(row) < Infinity);
  if (later.length > 0) {
    await lowerWatchesOfSeen(tx, later, height);
    since = await lockWatches(tx, scripts);
  }
  return rows.filter((row) => sinceOf(row) <= height);
}

const columnsOf = (rows: readonly PaymentRow[]): unknown[] => [
  rows.map(({ txid }) => txid),
  rows.map(({ vout }) => vout),
  rows.map(({ script }) => script),
  rows.map(({ value }) => value),
  rows.map(({ firstSeenMs }) => firstSeenMs),
];

/** Stores payments of a block. Returns whether anything changed. */
export async function writeConfirmed(
  tx: pg.ClientBase,
  block: BlockRef,
  transactions: readonly SeenTransaction[],
  keepsInputs: boolean,
): Promise<boolean> {
  const rows = await watchedRows(tx, transactions, block.height);
  if (rows.length === 0) return false;
  const { rowCount } = await tx.query(
    `INSERT INTO service.payments_seen AS p (txid, vout, script, value, first_seen, height, hash)
     SELECT s.txid, s.vout, s.script, s.value, to_timestamp(s.seen / 1000.0), $6, $7
       FROM unnest($1::bytea[], $2::integer[], $3::bytea[], $4::bigint[], $5::float8[]) AS s (txid, vout, script, value, seen)
         ON CONFLICT (txid, vout) DO UPDATE SET height = excluded.height, hash = excluded.hash, gone_at = NULL,
            replaced_by = NULL, change = excluded.change
      WHERE p.hash IS DISTINCT FROM excluded.hash`,
    [...columnsOf(rows), block.height, block.hash],
  );
  if (keepsInputs) await writeInputs(tx, transactions, rows);
  return rowCount !== 0;
}

/**
 * Stores new payments of the mempool, and returns their txids. The inputs of known payments are stored again. A payment
 * that was deep in a block no longer has stored inputs. After a reorganisation, such a payment may have unconfirmed
 * ancestors.
 */
export async function writePending(
  tx: pg.ClientBase,
  transactions: readonly SeenTransaction[],
): Promise<ReadonlySet<HashKey>> {
  const rows = await watchedRows(tx, transactions, null);
  if (rows.length === 0) return new Set();
  const { rows: inserted } = await tx.query<{ txid: Txid }>(
    `INSERT INTO service.payments_seen (txid, vout, script, value, first_seen)
     SELECT s.txid, s.vout, s.script, s.value, to_timestamp(s.seen / 1000.0)
       FROM unnest($1::bytea[], $2::integer[], $3::bytea[], $4::bigint[], $5::float8[]) AS s (txid, vout, script, value, seen)
         ON CONFLICT DO NOTHING RETURNING txid`,
    columnsOf(rows),
  );
  await writeInputs(tx, transactions, rows);
  return new Set(inserted.map(({ txid }) => hashKey(txid)));
}

async function writeInputs(
  tx: pg.ClientBase,
  transactions: readonly SeenTransaction[],
  rows: readonly PaymentRow[],
): Promise<void> {
  const written = new Set(rows.map(({ txid }) => hashKey(txid)));
  const all = transactions.flatMap(({ found: { txid }, spends }) =>
    written.has(txid) ? spends.map(({ spender, outpoints }) => ({ txid, spender, outpoints })) : [],
  );
  await tx.query(
    `INSERT INTO service.payment_inputs (txid, spender, outpoints)
     SELECT * FROM unnest($1::bytea[], $2::bytea[], $3::bytea[]) ON CONFLICT DO NOTHING`,
    [
      all.map(({ txid }) => hashOfKey(txid)),
      all.map(({ spender }) => hashOfKey(spender)),
      all.map(({ outpoints }) => outpoints),
    ],
  );
}

/** Stores which transactions replaced unconfirmed payments. Returns whether anything changed. */
export async function writeReplaced(tx: pg.ClientBase, replaced: readonly Replacement[]): Promise<boolean> {
  if (replaced.length === 0) return false;
  const { rowCount } = await tx.query(
    `UPDATE service.payments_seen AS p SET replaced_by = r.by, gone_at = coalesce(p.gone_at, now()),
            change = nextval('service.payment_changes')
       FROM unnest($1::bytea[], $2::bytea[]) AS r (txid, by)
      WHERE p.txid = r.txid AND p.height IS NULL AND p.replaced_by IS DISTINCT FROM r.by`,
    [replaced.map(({ txid }) => hashOfKey(txid)), replaced.map(({ by }) => hashOfKey(by))],
  );
  return rowCount !== 0;
}

/** Marks unconfirmed payments as gone from the mempool. Returns whether anything changed. */
export async function writeGone(tx: pg.ClientBase, txids: readonly HashKey[]): Promise<boolean> {
  if (txids.length === 0) return false;
  const { rowCount } = await tx.query(
    `UPDATE service.payments_seen SET gone_at = now(), change = nextval('service.payment_changes')
      WHERE txid = ANY($1) AND height IS NULL AND gone_at IS NULL`,
    [txids.map(hashOfKey)],
  );
  return rowCount !== 0;
}

/** Marks gone payments as in the mempool again. Returns whether anything changed. */
export async function writeBack(tx: pg.ClientBase, txids: readonly HashKey[]): Promise<boolean> {
  if (txids.length === 0) return false;
  const { rowCount } = await tx.query(
    `UPDATE service.payments_seen SET gone_at = NULL, replaced_by = NULL, change = nextval('service.payment_changes')
      WHERE txid = ANY($1) AND height IS NULL AND gone_at IS NOT NULL`,
    [txids.map(hashOfKey)],
  );
  return rowCount !== 0;
}

/** Marks payments in blocks above a height as not in a block. Returns whether anything changed. */
export async function unconfirmAbove(tx: pg.ClientBase, height: Height | -1): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE service.payments_seen SET height = NULL, hash = NULL, change = nextval('service.payment_changes')
      WHERE height > $1`,
    [height],
  );
  return rowCount !== 0;
}

/**
 * Marks the payments to these scripts as changed, so that a new watcher of the scripts reads the payments. Returns
 * whether the scripts have payments.
 */
export async function touchPayments(tx: pg.ClientBase, scripts: readonly Buffer[]): Promise<boolean> {
  const { rowCount } = await tx.query(
    `UPDATE service.payments_seen SET change = nextval('service.payment_changes') WHERE script = ANY($1)`,
    [scripts],
  );
  return rowCount !== 0;
}

/** Notifies listeners of changed payments when the transaction commits. */
export async function tellPayments(tx: pg.ClientBase): Promise<void> {
  await tx.query(`SELECT pg_notify('${paymentsChannel}', '')`);
}

/** Blocks with payments, the highest first. */
export async function readBlocksWithPayments(client: pg.ClientBase): Promise<BlockRef[]> {
  const { rows } = await client.query<BlockRef>(
    `SELECT DISTINCT height, hash FROM service.payments_seen WHERE height IS NOT NULL ORDER BY height DESC`,
  );
  return rows;
}

/** Transactions with payments that are not in a block, for the in-memory state. */
export async function readUnconfirmed(client: pg.ClientBase): Promise<Unconfirmed[]> {
  interface Row {
    readonly txid: Txid;
    readonly gone: boolean;
    readonly spenders: Buffer[];
    readonly outpoints: Buffer[];
  }
  const { rows } = await client.query<Row>(
    `SELECT p.txid, bool_and(p.gone_at IS NOT NULL) AS gone,
            array(SELECT spender FROM service.payment_inputs AS i WHERE i.txid = p.txid ORDER BY spender) AS spenders,
            array(SELECT outpoints FROM service.payment_inputs AS i WHERE i.txid = p.txid ORDER BY spender) AS outpoints
       FROM service.payments_seen AS p WHERE p.height IS NULL GROUP BY p.txid`,
  );
  return rows.map(({ txid, gone, spenders, outpoints }) => ({
    txid: hashKey(txid),
    isGone: gone,
    spends: spenders.map((spender, index) => {
      const spent = outpoints[index];
      assert(spent !== undefined, 'a spender has outpoints');
      return { spender: hashKey(spender), outpoints: spent };
    }),
  }));
}
