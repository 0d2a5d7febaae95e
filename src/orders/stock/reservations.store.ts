import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { type BlockHashHex, parseBlockHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { isReserving, type ReservingOrder } from './reserved-until.ts';

/** An output of the inventory, and the sat of it that an order inscribes. */
export interface StockedSat {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: number;
  /** Of the wallet's branch for the inventory. */
  readonly keyIndex: number;
  readonly height: Height;
  readonly blockHash: BlockHashHex;
  /** Sats of the output before it. */
  readonly place: number;
  readonly sat: number;
}

/** What an order has reserved. */
export interface Reservation extends Omit<StockedSat, 'blockHash'> {
  /** Of its block when it was reserved, in internal order. */
  readonly block: Buffer;
  readonly isReleased: boolean;
}

/** Who reserves, and how many outputs one client may have that are not paid for. */
export interface ReservedBy {
  readonly client: string;
  readonly most: number;
}

/**
 * Reserves a sat for an order that is being made. Creations take keys of the wallet first, one after the other, so no two
 * of them look at once. Throws `inventory_taken`, and `inventory_reserved_max`.
 */
export async function reserve(
  tx: pg.ClientBase,
  orderId: string,
  { txid, vout, value, keyIndex, height, blockHash, place, sat }: StockedSat,
  { client, most }: ReservedBy,
): Promise<void> {
  const { rows } = await tx.query<{ count: number }>(
    `SELECT count(*) AS count FROM service.reserved_outputs AS r JOIN service.orders AS o ON o.id = r.order_id
      WHERE r.client = $1 AND r.released_at IS NULL AND o.state IN ('waiting-payment', 'waiting-confirmation')`,
    [client],
  );
  if ((rows[0]?.count ?? 0) >= most)
    throw new AppError(
      'inventory_reserved_max',
      `${most} orders of yours have a sat of the inventory and are not paid yet: pay or cancel one of them first.`,
    );
  const { rowCount } = await tx.query(
    `INSERT INTO service.reserved_outputs (order_id, txid, vout, value, key_index, height, block_hash, place, sat, client)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (txid, vout) WHERE released_at IS NULL DO NOTHING`,
    [
      orderId,
      Buffer.from(txid),
      vout,
      value,
      keyIndex,
      height,
      Buffer.from(parseBlockHash(blockHash) ?? []),
      place,
      sat,
      client,
    ],
  );
  if (rowCount === 0)
    throw new AppError('inventory_taken', 'Another order has just got this sat of the inventory: try again.');
}

/** What an order has reserved; null: nothing. */
export async function readReservation(tx: pg.ClientBase, orderId: string): Promise<Reservation | null> {
  const { rows } = await tx.query<{
    txid: Buffer;
    vout: number;
    value: number;
    key_index: number;
    height: Height;
    block_hash: Buffer;
    place: number;
    sat: number;
    is_released: boolean;
  }>(
    `SELECT txid, vout, value, key_index, height, block_hash, place, sat, released_at IS NOT NULL AS is_released
       FROM service.reserved_outputs WHERE order_id = $1`,
    [orderId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { txid, key_index: keyIndex, block_hash: block, is_released: isReleased, ...rest } = row;
  return { ...rest, txid: trustedTxid(txid), keyIndex, block, isReleased };
}

/** States from which on nobody is counted, so nobody needs to know who it was: it is paid, or over for good. */
const forgetting: ReadonlySet<OrderState> = new Set<OrderState>([
  'prep',
  'queued',
  'completed',
  'error',
  'cancelled',
  'refunded',
]);

/**
 * Releases what an order has reserved once it needs it no more, and takes it again where the order goes on and nobody
 * else has it: a payment in time may become known late.
 */
export async function keepReservation(tx: pg.ClientBase, order: ReservingOrder, now: Date): Promise<void> {
  const { id, state } = order;
  if (forgetting.has(state))
    await tx.query(
      'UPDATE service.reserved_outputs SET client = NULL WHERE order_id = $1 AND client IS NOT NULL',
      [id],
    );
  if (!isReserving(order, now)) {
    await tx.query(
      'UPDATE service.reserved_outputs SET released_at = now() WHERE order_id = $1 AND released_at IS NULL',
      [id],
    );
    return;
  }
  await tx.query(
    `UPDATE service.reserved_outputs AS r SET released_at = NULL
      WHERE order_id = $1 AND released_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM service.reserved_outputs AS o
         WHERE o.txid = r.txid AND o.vout = r.vout AND o.released_at IS NULL)`,
    [id],
  );
}
