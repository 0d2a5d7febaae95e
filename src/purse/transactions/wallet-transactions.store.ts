import assert from 'node:assert/strict';
import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import { requireNoHold } from '#purse/holding/payment-hold.store.ts';
import { beginSpends, countSpends, refuseTaken } from './spends.store.ts';
import type { StoredPlan } from './stored-plan.ts';

/**
 * Kinds of transactions. `burn`: burns the inscriptions of a reveal. `return`: returns deposits that no delivery uses.
 * `bump`: pays the fee for other transactions that are stuck. `payout`: pays partners and the operator.
 */
export type WalletTransactionKind = 'commit' | 'reveal' | 'burn' | 'return' | 'refund' | 'bump' | 'payout';

/**
 * Kinds that pay others by a decision of the service. Transactions of a delivery spend the payment of their order, so a
 * delivery cannot be mined twice. A bump pays only fees.
 */
const paysOthers: ReadonlySet<WalletTransactionKind> = new Set(['return', 'refund', 'payout']);

/** A signed transaction that is not stored yet. */
export interface NewTransaction {
  readonly txid: Txid;
  readonly kind: WalletTransactionKind;
  /**
   * The order of the transaction. Null for a payout, and for a bump, which may pay for transactions of several orders.
   */
  readonly orderId: string | null;
  /** The payout of the transaction, or null if the transaction is of another kind. */
  readonly payoutId: string | null;
  /** Sequence number among the transactions of the same kind and subject. */
  readonly index: number;
  /** Number of files that the transaction inscribes or burns. */
  readonly files: number;
  readonly bytes: Uint8Array;
  readonly plan: StoredPlan;
  readonly fee: bigint;
  /**
   * The first of the transactions that this one replaces. Its txid identifies the family. Null if this transaction
   * starts a family.
   */
  readonly replaces: Txid | null;
  /** Index in branch 1 of the key for the change of a bump or a payout. Null for other kinds. */
  readonly ownIndex: number | null;
  /** Present if a block has the transaction, and the database did not know it (ADR 103). */
  readonly isFound?: true;
}

/**
 * Stores a signed transaction before it is broadcast, and takes its inputs, so that no later plan uses them. Returns
 * false if the transaction was already stored. If it was superseded, it becomes active again. Throws `OutputTaken`; the
 * database transaction has then failed. Throws `restored_on_hold` for a new payment to others while payments are on
 * hold.
 */
export async function insertTransaction(tx: pg.ClientBase, made: NewTransaction): Promise<boolean> {
  // a replacement spends the same coins as a transaction that was stored before, so only one of the two is ever mined
  if (paysOthers.has(made.kind) && made.replaces === null && made.isFound !== true) await requireNoHold(tx);
  const { rows } = await tx.query<{ family: Buffer; is_new: boolean }>(
    `INSERT INTO service.wallet_transactions AS t (txid, order_id, payout_id, kind, index, files, bytes, plan, fee, replaces, own_index)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
     ON CONFLICT (txid) DO UPDATE SET superseded_at = NULL
      WHERE (t.order_id, t.payout_id) IS NOT DISTINCT FROM (excluded.order_id, excluded.payout_id)
     RETURNING coalesce(replaces, txid) AS family, xmax = 0 AS is_new`,
    [
      Buffer.from(made.txid),
      made.orderId,
      made.payoutId,
      made.kind,
      made.index,
      made.files,
      Buffer.from(made.bytes),
      JSON.stringify(made.plan),
      made.fee,
      made.replaces === null ? null : Buffer.from(made.replaces),
      made.ownIndex,
    ],
  );
  const [row] = rows;
  assert(row !== undefined, 'a transaction has one subject');
  const family = trustedTxid(row.family);
  await refuseTaken(beginSpends(tx, family, made.plan));
  const isWhole = made.replaces === null || (await countSpends(tx, family)) === made.plan.inputs.length;
  assert(
    isWhole,
    'a replacement spends all inputs of the transactions before it: no two of them are ever mined',
  );
  return row.is_new;
}

/** Stores that a node accepted a transaction, or the reason why the node refused it. */
export async function markSent(client: pg.ClientBase, txid: Txid, refusal: string | null): Promise<void> {
  await client.query(
    `UPDATE service.wallet_transactions
        SET refusal = $2, sent_at = CASE WHEN $2::text IS NULL THEN coalesce(sent_at, now()) ELSE sent_at END
      WHERE txid = $1 AND (refusal IS DISTINCT FROM $2 OR sent_at IS NULL)`,
    [Buffer.from(txid), refusal],
  );
}

/** Stores that a node accepted all of these transactions. */
export async function markAllSent(client: pg.ClientBase, txids: readonly Txid[]): Promise<void> {
  await client.query(
    `UPDATE service.wallet_transactions SET refusal = NULL, sent_at = coalesce(sent_at, now())
      WHERE txid = ANY($1::bytea[]) AND (refusal IS NOT NULL OR sent_at IS NULL)`,
    [txids.map((txid) => Buffer.from(txid))],
  );
}

/** A transaction with its signatures, ready to broadcast. */
export interface SignedTransaction {
  readonly txid: Txid;
  readonly bytes: Uint8Array;
  /**
   * Sats of the OP_RETURN output. Nodes accept such a transaction for broadcast only if the call contains this number.
   */
  readonly burned: number;
}

/** Reads a stored transaction. The transaction always exists, because no transaction is ever deleted. */
export async function readSigned(client: pg.ClientBase, txid: Txid): Promise<SignedTransaction> {
  const [signed] = await readAllSigned(client, [txid]);
  assert(signed !== undefined, 'a transaction that was read is stored');
  return signed;
}

/** Reads stored transactions. The result is not sorted. */
export async function readAllSigned(
  client: pg.ClientBase,
  txids: readonly Txid[],
): Promise<SignedTransaction[]> {
  const { rows } = await client.query<{ txid: Buffer } & Pick<SignedTransaction, 'bytes' | 'burned'>>(
    `SELECT txid, bytes, CASE WHEN kind = 'burn' THEN (
              SELECT sum((output->>'value')::bigint)::bigint FROM jsonb_array_elements(plan->'outputs') AS o (output)
               WHERE output->>'kind' = 'burn') ELSE 0 END AS burned
       FROM service.wallet_transactions WHERE txid = ANY($1::bytea[])`,
    [txids.map((txid) => Buffer.from(txid))],
  );
  return rows.map((row) => ({ ...row, txid: trustedTxid(row.txid) }));
}
