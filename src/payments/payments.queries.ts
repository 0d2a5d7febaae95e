import type pg from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { BlockHash, Txid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Sats } from '#kernel/primitives/sats.ts';

/** An output that pays a watched script. Hashes are in internal order. */
export interface WatchedPayment {
  readonly txid: Txid;
  readonly vout: number;
  readonly script: Uint8Array;
  /** Value in sats. */
  readonly value: bigint;
  /**
   * Time at which the node accepted the payment into its mempool. For a payment first seen in a block, it is the time
   * of that block.
   */
  readonly firstSeen: Date;
  /** Null if the payment is not in a block. */
  readonly block: BlockRef | null;
  /** Time since which the payment is neither in a block nor in the mempool. Null if the payment is in one of them. */
  readonly goneAt: Date | null;
  /**
   * The transaction that spent an input of the payment or of an unconfirmed ancestor. Null if no such transaction was
   * seen, or if the payment is not gone.
   */
  readonly replacedBy: Uint8Array | null;
  /** Number of the last change. Each change of any payment gets a higher number, in commit order. */
  readonly change: number;
}

/** A payment with the watchers of its script. Watchers whose start height is above the payment's block are omitted. */
export interface PaymentChange {
  readonly payment: WatchedPayment;
  readonly watchers: readonly string[];
}

/** SQL: whether a watched output of a transaction is in a block. `txid` is an SQL expression. */
export const hasMinedOutput = (txid: string): string =>
  `EXISTS (SELECT FROM service.payments_seen AS p WHERE p.txid = ${txid} AND p.height IS NOT NULL)`;

/** SQL: whether a transaction with a watched output is in the mempool. `txid` is an SQL expression. */
export const isPending = (txid: string): string =>
  `EXISTS (SELECT FROM service.payments_seen AS p WHERE p.txid = ${txid} AND p.height IS NULL AND p.gone_at IS NULL)`;

/**
 * SQL: the height of the block with a transaction that has a watched output. Null if no block has the transaction.
 * `txid` is an SQL expression.
 */
export const minedHeight = (txid: string): string =>
  `(SELECT min(p.height) FROM service.payments_seen AS p WHERE p.txid = ${txid})`;

/** SQL: whether a script is watched, or a payment to the script was seen. `script` is an SQL expression. */
export const isWatchedOrPaid = (script: string): string =>
  `(EXISTS (SELECT FROM service.watched_scripts AS w WHERE w.script = ${script})
    OR EXISTS (SELECT FROM service.payments_seen AS p WHERE p.script = ${script}))`;

interface Row {
  readonly txid: Txid;
  readonly vout: number;
  readonly script: Buffer;
  readonly value: Sats;
  readonly first_seen: Date;
  readonly height: Height | null;
  readonly hash: BlockHash | null;
  readonly gone_at: Date | null;
  readonly replaced_by: Txid | null;
  readonly change: number;
  readonly watchers: string[];
}

const columns =
  'p.txid, p.vout, p.script, p.value, p.first_seen, p.height, p.hash, p.gone_at, p.replaced_by, p.change';
const isWatched = 'w.script = p.script AND (p.height IS NULL OR w.since_height <= p.height)';

/** The payments to the scripts of a watcher, oldest first. */
export async function readPayments(
  client: pg.Pool | pg.ClientBase,
  watcher: string,
): Promise<readonly WatchedPayment[]> {
  const { rows } = await client.query<Omit<Row, 'watchers'>>(
    `SELECT ${columns} FROM service.watched_scripts AS w JOIN service.payments_seen AS p ON ${isWatched}
      WHERE w.watcher = $1 ORDER BY p.first_seen, p.txid, p.vout`,
    [watcher],
  );
  return rows.map(paymentOf);
}

/** The payments to the scripts of several watchers, by watcher, oldest first. */
export async function readPaymentsOf(
  client: pg.Pool | pg.ClientBase,
  watchers: readonly string[],
): Promise<ReadonlyMap<string, readonly WatchedPayment[]>> {
  const { rows } = await client.query<Omit<Row, 'watchers'> & { readonly watcher: string }>(
    `SELECT w.watcher, ${columns} FROM service.watched_scripts AS w JOIN service.payments_seen AS p ON ${isWatched}
      WHERE w.watcher = ANY($1::text[]) ORDER BY p.first_seen, p.txid, p.vout`,
    [watchers],
  );
  const byWatcher = Map.groupBy(rows, ({ watcher }) => watcher);
  return new Map([...byWatcher].map(([watcher, of]) => [watcher, of.map(paymentOf)]));
}

/** Selects the scripts that have a watcher whose name does not begin with `prefix`. */
export async function watchedApartFrom(
  client: pg.Pool | pg.ClientBase,
  scripts: readonly Uint8Array[],
  prefix: string,
): Promise<readonly Buffer[]> {
  const { rows } = await client.query<{ script: Buffer }>(
    `SELECT script FROM unnest($1::bytea[]) AS given (script)
      WHERE EXISTS (SELECT FROM service.watched_scripts AS w
                     WHERE w.script = given.script AND NOT starts_with(w.watcher, $2))`,
    [scripts.map((script) => Buffer.from(script)), prefix],
  );
  return rows.map(({ script }) => script);
}

/** The watched outputs of a transaction that are in a block or in the mempool. */
export async function seenPayments(
  client: pg.Pool | pg.ClientBase,
  txid: Txid,
): Promise<readonly { readonly vout: number; readonly isMined: boolean }[]> {
  const { rows } = await client.query<{ vout: number; isMined: boolean }>(
    'SELECT vout, height IS NOT NULL AS "isMined" FROM service.payments_seen WHERE txid = $1 AND gone_at IS NULL',
    [Buffer.from(txid)],
  );
  return rows;
}

/** The watchers of these scripts, without duplicates. */
export async function watchersOfScripts(
  client: pg.Pool | pg.ClientBase,
  scripts: readonly Uint8Array[],
): Promise<readonly string[]> {
  const { rows } = await client.query<{ watcher: string }>(
    'SELECT DISTINCT watcher FROM service.watched_scripts WHERE script = ANY($1::bytea[]) ORDER BY watcher',
    [scripts.map((script) => Buffer.from(script))],
  );
  return rows.map(({ watcher }) => watcher);
}

/** The watched scripts that are paid in blocks above the height `above`, up to and including `upTo`. */
export async function scriptsPaidInBlocks(
  client: pg.Pool | pg.ClientBase,
  above: number,
  upTo: number,
): Promise<readonly Buffer[]> {
  const { rows } = await client.query<{ script: Buffer }>(
    'SELECT DISTINCT script FROM service.payments_seen WHERE height > $1 AND height <= $2',
    [above, upTo],
  );
  return rows.map(({ script }) => script);
}

/** Selects the watched outputs among the given outputs that are in a block or in the mempool. */
export async function outputsThereAmong(
  client: pg.Pool | pg.ClientBase,
  outputs: readonly Pick<WatchedPayment, 'txid' | 'vout'>[],
): Promise<readonly Pick<WatchedPayment, 'txid' | 'vout'>[]> {
  if (outputs.length === 0) return [];
  const { rows } = await client.query<Pick<WatchedPayment, 'txid' | 'vout'>>(
    `SELECT p.txid, p.vout FROM unnest($1::bytea[], $2::integer[]) AS given (txid, vout)
       JOIN service.payments_seen AS p USING (txid, vout) WHERE p.gone_at IS NULL`,
    [outputs.map(({ txid }) => Buffer.from(txid)), outputs.map(({ vout }) => vout)],
  );
  return rows;
}

/** Payments that changed after the change number `after`, at most `limit`, in the order of their changes. */
export async function readPaymentChanges(
  client: pg.Pool | pg.ClientBase,
  after: number,
  limit: number,
): Promise<readonly PaymentChange[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns},
            array(SELECT w.watcher FROM service.watched_scripts AS w WHERE ${isWatched} ORDER BY 1) AS watchers
       FROM service.payments_seen AS p WHERE p.change > $1 ORDER BY p.change LIMIT $2`,
    [after, limit],
  );
  return rows.map((row) => ({ payment: paymentOf(row), watchers: row.watchers }));
}

function paymentOf(row: Omit<Row, 'watchers'>): WatchedPayment {
  const { txid, vout, script, value, first_seen: firstSeen, height, hash, change } = row;
  return {
    txid,
    vout,
    script,
    value: BigInt(value),
    firstSeen,
    block: height === null || hash === null ? null : { height, hash },
    goneAt: row.gone_at,
    replacedBy: row.replaced_by,
    change,
  };
}
