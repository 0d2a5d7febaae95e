import type pg from 'pg';
import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { type BlockHashHex, parseBlockHash, type Txid, trustedTxid } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { reservationBounds } from './reservation-bounds.ts';
import { countedStates, forgettingStates, isReserving, type ReservingOrder } from './reserved-until.ts';

/** An output of the inventory, and the sat in it that an order inscribes. */
export interface StockedSat {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: number;
  /** Index of the output's key in the wallet's branch for the inventory. */
  readonly keyIndex: number;
  readonly height: Height;
  readonly blockHash: BlockHashHex;
  /** Number of sats of the output before the inscribed sat. */
  readonly place: number;
  readonly sat: number;
}

/** A sat that an order has reserved. */
export interface Reservation extends Omit<StockedSat, 'blockHash'> {
  /** Hash of the output's block when it was reserved, in internal order. */
  readonly block: Buffer;
  readonly isReleased: boolean;
  /** Time since which the order is in the state `error`, or null if it is in another state. */
  readonly failedAt: Date | null;
}

export type StockedOutpoint = Pick<StockedSat, 'txid' | 'vout'>;

/** The client that reserves sats, and its maximum of unpaid sats. */
export interface ReservedBy {
  readonly client: string;
  readonly most: number;
  /** Outputs of the inventory with sats of the requested type. */
  readonly ofType: readonly StockedOutpoint[];
}

/**
 * Reserves one sat for each file of an order that is being created. The sats are in the order of the files. Either all
 * are reserved, or none. Transactions that reserve sats wait for each other, so that each transaction sees all earlier
 * reservations. Throws `inventory_taken` and `inventory_reserved_max`; both roll the transaction back.
 */
export async function reserve(
  tx: pg.ClientBase,
  orderId: string,
  sats: readonly StockedSat[],
  by: ReservedBy,
): Promise<void> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.reservations]);
  // an output is not reserved if it left the list meanwhile, or is now in another block
  const { rowCount } = await tx.query(
    `INSERT INTO service.reserved_outputs (order_id, file, txid, vout, value, key_index, height, block_hash, place, sat, client)
     SELECT $1, s.file, txid, vout, i.value, s.key_index, s.height, i.block_hash, s.place, s.sat, $2
       FROM unnest($3::integer[], $4::bytea[], $5::bigint[], $6::bigint[], $7::integer[], $8::integer[], $9::bytea[],
                   $10::bigint[], $11::bigint[])
            AS s (file, txid, vout, value, key_index, height, block_hash, place, sat)
       JOIN service.inventory_outputs AS i USING (txid, vout)
      WHERE i.block_hash = s.block_hash AND i.value = s.value
     ON CONFLICT (txid, vout) WHERE released_at IS NULL DO NOTHING`,
    [
      orderId,
      by.client,
      sats.map((_, file) => file),
      sats.map(({ txid }) => Buffer.from(txid)),
      sats.map(({ vout }) => vout),
      sats.map(({ value }) => value),
      sats.map(({ keyIndex }) => keyIndex),
      sats.map(({ height }) => height),
      sats.map(({ blockHash }) => Buffer.from(parseBlockHash(blockHash) ?? [])),
      sats.map(({ place }) => place),
      sats.map(({ sat }) => sat),
    ],
  );
  if (rowCount !== sats.length) throw new AppError('inventory_taken', takenReason(sats.length));
  await requireFewUnpaid(tx, by);
}

const takenReason = (sats: number): string =>
  sats === 1
    ? 'Another order has just taken this sat of the inventory. Try again.'
    : `Another order has just taken one of these ${sats} sats of the inventory. Try again.`;

/**
 * Counts the reservations of unpaid orders, including the new reservations, and checks the bounds. Throws
 * `inventory_reserved_max`.
 */
async function requireFewUnpaid(tx: pg.ClientBase, { client, most, ofType }: ReservedBy): Promise<void> {
  // the query reads at most as many rows as the inventory has outputs, because the client of finished orders is deleted
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
  const bounds = reservationBounds(most, ofType.length);
  const unpaid = 'that are not paid yet, or failed,';
  if (ofClient > bounds.client)
    throw tooMany(
      `Your orders ${unpaid} can have ${bounds.client} sats of the inventory. Pay for an order or cancel one first.`,
    );
  if (ofNetwork > bounds.network)
    throw tooMany(
      `Orders of your network ${unpaid} can have ${bounds.network} sats of the inventory. Try again within 30 minutes.`,
    );
  if (reserved > bounds.type)
    throw tooMany(`Orders ${unpaid} can have half of the sats of this type. Try again within 30 minutes.`);
}

const noneReserved = { of_client: 0, of_network: 0, of_type: 0 };
const tooMany = (message: string): AppError => new AppError('inventory_reserved_max', message);

/**
 * The reservations of an order, one for each file, in the order of the files. The list is empty if the order has no
 * reservations.
 */
export async function readReservations(tx: pg.ClientBase, orderId: string): Promise<Reservation[]> {
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
       FROM service.reserved_outputs WHERE order_id = $1 ORDER BY file`,
    [orderId],
  );
  return rows.map((row) => {
    const {
      txid,
      key_index: keyIndex,
      block_hash: block,
      is_released: isReleased,
      failed_at: failedAt,
      ...rest
    } = row;
    return { ...rest, txid: trustedTxid(txid), keyIndex, block, isReleased, failedAt };
  });
}

const forgetting: ReadonlySet<OrderState> = new Set<OrderState>(forgettingStates);

/**
 * Releases all sats of an order that no longer needs them. Reserves the sats again if the order continues and no other
 * order has reserved any of them. An order can continue because a payment that was sent in time may be noticed late.
 */
export async function keepReservations(
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
    `UPDATE service.reserved_outputs SET released_at = NULL
      WHERE order_id = $1 AND released_at IS NOT NULL AND NOT EXISTS (
        SELECT FROM service.reserved_outputs AS own JOIN service.reserved_outputs AS other USING (txid, vout)
         WHERE own.order_id = $1 AND other.order_id <> $1 AND other.released_at IS NULL)`,
    [id],
  );
}

/**
 * Stores and returns the time since which an order is in the state `error`, or null if it is in another state. Each new
 * failure has a new time.
 */
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
