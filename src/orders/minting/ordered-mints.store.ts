import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { Rune } from '#kernel/runes/rune.ts';
import { isPending, minedHeight } from '#payments/payments.queries.ts';
import { isLive } from '#purse/transactions/spends.store.ts';

/**
 * SQL: whether a transaction is a mint that is not sent now. `transaction` is the name of the row in the statement.
 */
export const isHeldMint = (transaction: string): string =>
  `EXISTS (SELECT FROM service.ordered_mints AS held
            WHERE held.txid = ${transaction}.txid AND (held.released_at IS NULL OR held.given_up_at IS NOT NULL))`;

/**
 * SQL: whether a transaction belongs to an order with stored mints. No bump pays for such transactions, because a
 * customer could use up the mints with other transactions and let the operator pay. `transaction` is the name of the
 * row in the statement.
 */
export const isOfMints = (transaction: string): string =>
  `EXISTS (SELECT FROM service.ordered_mints AS bought WHERE bought.order_id = ${transaction}.order_id)`;

/**
 * SQL: whether a transaction is a mined mint that minted nothing. `transaction` is the name of the row in the
 * statement.
 */
export const isFailedMint = (transaction: string): string =>
  `EXISTS (SELECT FROM service.ordered_mints AS m WHERE m.txid = ${transaction}.txid AND m.is_executed IS FALSE)`;

/** A mint of an order, with a stored transaction. */
export interface StoredMint {
  readonly txid: Txid;
  /** Index of the commit's output that the mint spends. */
  readonly place: number;
  readonly isReleased: boolean;
  /** The reason why the mint was given up. Null if the mint was not given up. */
  readonly fault: string | null;
  /** Whether the mint was executed in its block. Null if this is unknown. */
  readonly isExecuted: boolean | null;
  /** Height of the mint's block, by the payments. Null if no block has the mint. */
  readonly height: Height | null;
  /** Whether the payments see the mint in the mempool. */
  readonly isInMempool: boolean;
}

/** All mints of an order, before they are stored. */
interface NewMints {
  readonly orderId: string;
  readonly commit: Txid;
  readonly rune: Rune;
  /** Txids of the mints, by index. */
  readonly txids: readonly Txid[];
}

/**
 * Stores mints that wait to be sent. They may be stored again after their payment was missing for a while; all their
 * progress is then reset.
 */
export async function insertMints(
  tx: pg.ClientBase,
  { orderId, commit, rune, txids }: NewMints,
): Promise<void> {
  await tx.query(
    `INSERT INTO service.ordered_mints (txid, commit_txid, order_id, place, rune)
     SELECT m.txid, $2, $1, m.place - 1, $3 FROM unnest($4::bytea[]) WITH ORDINALITY AS m (txid, place)
     ON CONFLICT (txid) DO UPDATE
        SET made_at = now(), released_at = NULL, given_up_at = NULL, fault = NULL, is_executed = NULL`,
    [orderId, Buffer.from(commit), String(rune), txids.map((txid) => Buffer.from(txid))],
  );
}

interface MintRow {
  readonly txid: Buffer;
  readonly place: number;
  readonly is_released: boolean;
  readonly fault: string | null;
  readonly is_executed: boolean | null;
  readonly height: Height | null;
  readonly is_pending: boolean;
}

/** Mints that spend a commit, sorted by index. */
async function readMints(
  client: pg.Pool | pg.ClientBase,
  orderId: string,
  commit: Txid,
): Promise<StoredMint[]> {
  const { rows } = await client.query<MintRow>(
    `SELECT txid, place, released_at IS NOT NULL AS is_released, fault, is_executed, ${minedHeight('m.txid')} AS height,
            ${isPending('m.txid')} AS is_pending
       FROM service.ordered_mints AS m WHERE order_id = $1 AND commit_txid = $2 ORDER BY place`,
    [orderId, Buffer.from(commit)],
  );
  return rows.map((row) => ({
    txid: trustedTxid(row.txid),
    place: row.place,
    isReleased: row.is_released,
    fault: row.fault,
    isExecuted: row.is_executed,
    height: row.height,
    isInMempool: row.is_pending,
  }));
}

/**
 * The mints that spend the order's current commit, which is mined or may be mined. Empty if there is no such commit, or
 * there are no mints.
 */
export async function readOrderMints(
  client: pg.Pool | pg.ClientBase,
  { id, terms }: { readonly id: string; readonly terms: { readonly mint?: object } },
  transactions: readonly { readonly kind: string; readonly txid: Txid }[],
): Promise<StoredMint[]> {
  const commit = transactions.find(({ kind }) => kind === 'commit');
  return terms.mint === undefined || commit === undefined ? [] : readMints(client, id, commit.txid);
}

/** Stores whether each of these mints was executed in its block. The value is null if the mint is not in a block. */
export async function noteExecuted(
  tx: pg.ClientBase,
  mints: readonly Pick<StoredMint, 'txid' | 'isExecuted'>[],
): Promise<void> {
  if (mints.length === 0) return;
  await tx.query(
    `UPDATE service.ordered_mints AS m SET is_executed = given.is_executed
       FROM unnest($1::bytea[], $2::boolean[]) AS given (txid, is_executed) WHERE m.txid = given.txid`,
    [mints.map(({ txid }) => Buffer.from(txid)), mints.map(({ isExecuted }) => isExecuted)],
  );
}

/** Releases these mints, so they are sent from now on. */
export async function releaseMints(tx: pg.ClientBase, txids: readonly Txid[]): Promise<void> {
  if (txids.length === 0) return;
  await tx.query(
    'UPDATE service.ordered_mints SET released_at = now() WHERE txid = ANY($1) AND released_at IS NULL',
    [txids.map((txid) => Buffer.from(txid))],
  );
}

/** Holds these mints, so they are not sent until they are released again. */
export async function holdMints(tx: pg.ClientBase, txids: readonly Txid[]): Promise<void> {
  if (txids.length === 0) return;
  await tx.query(
    'UPDATE service.ordered_mints SET released_at = NULL WHERE txid = ANY($1) AND released_at IS NOT NULL',
    [txids.map((txid) => Buffer.from(txid))],
  );
}

/** Gives mints up for this reason. A block that has such a mint is still accepted. */
export async function giveUpMints(tx: pg.ClientBase, txids: readonly Txid[], fault: string): Promise<void> {
  if (txids.length === 0) return;
  await tx.query(
    `UPDATE service.ordered_mints SET given_up_at = now(), fault = $2
      WHERE txid = ANY($1) AND given_up_at IS NULL`,
    [txids.map((txid) => Buffer.from(txid)), fault],
  );
}

/** Mints of a rune that belong to orders of this service and are not in a block yet. */
export interface OpenMints {
  /** Mints that are sent, or will be sent soon. */
  readonly released: readonly Txid[];
  /** Number of mints that are paid for, but not sent now. */
  readonly held: number;
}

/** Reads all open mints of a rune. */
export async function readOpenMints(client: pg.ClientBase, rune: Rune): Promise<OpenMints> {
  const { rows } = await client.query<{ txid: Buffer; is_released: boolean }>(
    `SELECT txid, released_at IS NOT NULL AS is_released
       FROM service.ordered_mints AS m
      WHERE rune = $1 AND is_executed IS NULL AND given_up_at IS NULL AND ${isLive('m.txid')}
        AND ${minedHeight('m.txid')} IS NULL`,
    [String(rune)],
  );
  const released = rows.filter(({ is_released }) => is_released);
  return {
    released: released.map(({ txid }) => trustedTxid(txid)),
    held: rows.length - released.length,
  };
}
