import type pg from 'pg';
import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { type BlockHashHex, parseBlockHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { countedStates, forgettingStates, isReserving, type ReservingOrder } from './reserved-until.ts';

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
  /** Since when the order is in the state `error`; null: it is not. */
  readonly failedAt: Date | null;
}

export type StockedOutpoint = Pick<StockedSat, 'txid' | 'vout'>;

/** Who reserves, and how many outputs one client may have that are not paid for. */
export interface ReservedBy {
  readonly client: string;
  readonly most: number;
  /** Outputs that have sats of the type. */
  readonly ofType: readonly StockedOutpoint[];
}

/**
 * Unpaid reservations that all clients of a network may have together. Three customers of one office fit. Without it the
 * owner of a /24, or of an IPv6 /48, which costs as much as one address, would have 256 or 65,536 times as many.
 */
const networkMost = 10;

/**
 * Reserves a sat for an order that is being made. Transactions that reserve wait for each other, so that each counts
 * what those before it have reserved. Throws `inventory_taken`, and `inventory_reserved_max`.
 */
export async function reserve(
  tx: pg.ClientBase,
  orderId: string,
  { txid, vout, value, keyIndex, height, blockHash, place, sat }: StockedSat,
  by: ReservedBy,
): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.reservations]);
  // what was taken off the list meanwhile, or is in another block there, is offered no more
  const { rowCount } = await tx.query(
    `INSERT INTO service.reserved_outputs (order_id, txid, vout, value, key_index, height, block_hash, place, sat, client)
     SELECT $1, txid, vout, value, $4, $5, block_hash, $7, $8, $9 FROM service.inventory_outputs
      WHERE txid = $2 AND vout = $3 AND block_hash = $6 AND value = $10
     ON CONFLICT (txid, vout) WHERE released_at IS NULL DO NOTHING`,
    [
      orderId,
      Buffer.from(txid),
      vout,
      keyIndex,
      height,
      Buffer.from(parseBlockHash(blockHash) ?? []),
      place,
      sat,
      by.client,
      value,
    ],
  );
  if (rowCount === 0)
    throw new AppError('inventory_taken', 'Another order has just got this sat of the inventory: try again.');
  await requireFewUnpaid(tx, by);
}

/** With the one that was just reserved. Throws `inventory_reserved_max`. */
async function requireFewUnpaid(tx: pg.ClientBase, { client, most, ofType }: ReservedBy): Promise<void> {
  // those that are over have no client: no more rows than the list has
  const { rows } = await tx.query<{ of_client: number; of_network: number; of_type: number }>(
    `SELECT count(*) FILTER (WHERE client = $1) AS of_client,
            count(*) FILTER (WHERE starts_with(client, $2)) AS of_network,
            count(*) FILTER (WHERE (r.txid, r.vout) IN (SELECT * FROM unnest($3::bytea[], $4::bigint[]))) AS of_type
       FROM service.reserved_outputs AS r JOIN service.orders AS o ON o.id = r.order_id
      WHERE r.client IS NOT NULL AND r.released_at IS NULL AND o.state = ANY($5::text[])`,
    [
      client,
      networkOfClient(client),
      ofType.map(({ txid }) => Buffer.from(txid)),
      ofType.map(({ vout }) => vout),
      countedStates,
    ],
  );
  const [{ of_client: ofClient, of_network: ofNetwork, of_type: reserved } = noneReserved] = rows;
  if (ofClient > most)
    throw tooMany(
      `${most} orders of yours have a sat of the inventory and are not paid yet, or failed: pay or cancel one of them first.`,
    );
  // an operator who lets one address have more lets its network
  const ofNetworkMost = Math.max(networkMost, most);
  if (ofNetwork > ofNetworkMost)
    throw tooMany(
      `${ofNetworkMost} orders of your network have a sat of the inventory and are not paid yet, or failed: try again within 30 minutes.`,
    );
  // who has thousands of addresses closes half of the shop for nothing, and not all of it
  if (reserved > Math.max(Math.floor(ofType.length / 2), 1))
    throw tooMany(
      'Half of the sats of this type are in orders that are not paid yet, or failed: try again within 30 minutes.',
    );
}

const noneReserved = { of_client: 0, of_network: 0, of_type: 0 };
const tooMany = (message: string): AppError => new AppError('inventory_reserved_max', message);

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
    failed_at: Date | null;
  }>(
    `SELECT txid, vout, value, key_index, height, block_hash, place, sat, released_at IS NOT NULL AS is_released, failed_at
       FROM service.reserved_outputs WHERE order_id = $1`,
    [orderId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const {
    txid,
    key_index: keyIndex,
    block_hash: block,
    is_released: isReleased,
    failed_at: failedAt,
    ...rest
  } = row;
  return { ...rest, txid: trustedTxid(txid), keyIndex, block, isReleased, failedAt };
}

const forgetting: ReadonlySet<OrderState> = new Set<OrderState>(forgettingStates);

/**
 * Releases what an order has reserved once it needs it no more, and takes it again where the order goes on and nobody
 * else has it: a payment in time may become known late.
 */
export async function keepReservation(
  tx: pg.ClientBase,
  order: Omit<ReservingOrder, 'failedAt'>,
  now: Date,
): Promise<void> {
  const { id, state } = order;
  const failedAt = await noteFailure(tx, order, now);
  if (forgetting.has(state))
    await tx.query(
      'UPDATE service.reserved_outputs SET client = NULL WHERE order_id = $1 AND client IS NOT NULL',
      [id],
    );
  if (!isReserving({ ...order, failedAt }, now)) {
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

/** Since when an order is in the state `error`; null: it is not. Each failure has a time of its own. */
async function noteFailure(
  tx: pg.ClientBase,
  { id, state }: Omit<ReservingOrder, 'failedAt'>,
  now: Date,
): Promise<Date | null> {
  const isFailed = state === 'error';
  await tx.query(
    `UPDATE service.reserved_outputs SET failed_at = CASE WHEN $2 THEN $3::timestamptz END
      WHERE order_id = $1 AND (failed_at IS NULL) = $2`,
    [id, isFailed, now],
  );
  const { rows } = await tx.query<{ failed_at: Date | null }>(
    'SELECT failed_at FROM service.reserved_outputs WHERE order_id = $1',
    [id],
  );
  return rows[0]?.failed_at ?? null;
}
