import type pg from 'pg';
import { type Txid, trustedTxid } from '#kernel/primitives/hash.ts';

/** An address of the service to which the owner of a parent sends the parent. */
export interface DepositAddress {
  /** Number of the parent in the order's terms. */
  readonly index: number;
  /** Index of the key in the wallet's branch for orders. */
  readonly keyIndex: number;
  readonly script: Uint8Array;
  readonly address: string;
}

/** Stores the deposit addresses of an order. */
export async function insertDepositAddresses(
  tx: pg.ClientBase,
  orderId: string,
  addresses: readonly DepositAddress[],
): Promise<void> {
  await tx.query(
    `INSERT INTO service.order_parents (order_id, index, key_index, script, address)
     SELECT $1, d.index, d.key_index, decode(d.script, 'hex'), d.address
       FROM unnest($2::integer[], $3::integer[], $4::text[], $5::text[]) AS d (index, key_index, script, address)`,
    [
      orderId,
      addresses.map(({ index }) => index),
      addresses.map(({ keyIndex }) => keyIndex),
      addresses.map(({ script }) => Buffer.from(script).toString('hex')),
      addresses.map(({ address }) => address),
    ],
  );
}

/** The deposit addresses of an order, in the sequence of its parents. */
export async function readDepositAddresses(
  client: pg.Pool | pg.ClientBase,
  orderId: string,
): Promise<DepositAddress[]> {
  const { rows } = await client.query<{ index: number; key_index: number; script: Buffer; address: string }>(
    'SELECT index, key_index, script, address FROM service.order_parents WHERE order_id = $1 ORDER BY index',
    [orderId],
  );
  return rows.map(({ key_index: keyIndex, ...row }) => ({ ...row, keyIndex }));
}

/** All transactions that were ever made for an order. Their outputs at a deposit address are not deposits. */
export async function readMadeTxids(client: pg.Pool | pg.ClientBase, orderId: string): Promise<Txid[]> {
  const { rows } = await client.query<{ txid: Buffer }>(
    'SELECT txid FROM service.wallet_transactions WHERE order_id = $1',
    [orderId],
  );
  return rows.map(({ txid }) => trustedTxid(txid));
}

/**
 * Stores why something of an order is not returned. If `why` is null, deletes the stored reason. Other reasons of the
 * order are unchanged.
 */
export async function explainDeposits(tx: pg.ClientBase, id: string, why: string | null): Promise<void> {
  await tx.query(
    `UPDATE service.orders SET error = $2 WHERE id = $1 AND state <> 'error' AND error IS DISTINCT FROM $2
        AND (starts_with(error, $3) OR error IS NULL AND $2::text IS NOT NULL)`,
    [id, why, depositsWait],
  );
}

/** Prefix of each reason why something is not returned. */
export const depositsWait = 'Not returned yet: ';
