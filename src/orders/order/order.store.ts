import assert from 'node:assert/strict';
import type pg from 'pg';
import { indexTipHash, indexTipHeight } from '#chain/blocks/index-tip.queries.ts';
import type { OwnScript } from '#kernel/contracts/transaction-plan.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { hasPackage } from '#orders/mining/packages.store.ts';
import { scriptsPaidInBlocks } from '#payments/payments.queries.ts';
import { paymentsTipHash } from '#payments/store/offset.store.ts';
import { hasShallowFee } from '#tokenpay/inscribing/inscription-fees.store.ts';
import type { OrderKind } from './order-kind.ts';
import type { OrderEvent, OrderState } from './order-machine.ts';
import type { OrderRequest, StoredQuote, StoredRepricing } from './order-request.ts';
import type { StoredTerms } from './stored-terms.ts';

/** A stored order (docs/schema.md). */
export interface Order {
  readonly id: string;
  readonly kind: OrderKind;
  readonly state: OrderState;
  /** Grows with each change of the state. */
  readonly step: number;
  readonly keyIndex: number;
  /** Index in the wallet's branch for the service's own outputs. */
  readonly ownIndex: number;
  readonly script: Buffer;
  readonly address: string;
  /**
   * `direct`: the only reveal spends the payment. `wallet`: a commit spends the payment, and the reveals spend the
   * commit.
   */
  readonly paidTo: 'direct' | 'wallet';
  readonly amount: bigint;
  /** Costs beyond the quote in sats, which were found when the delivery was planned. */
  readonly extraCost: bigint;
  readonly quote: StoredQuote;
  readonly request: OrderRequest;
  readonly terms: StoredTerms;
  readonly webhookUrl: string | null;
  readonly refundScript: Buffer | null;
  readonly createdAt: Date;
  readonly expiresAt: Date;
  readonly paidAt: Date | null;
  /** Fee estimate at the payment of the order, in sats per 1,000 virtual bytes. Null if the estimate is unknown. */
  readonly paidEstimate: bigint | null;
  readonly completedAt: Date | null;
  /** Time at which the order was complete with the accepted price. Null if the order has not been complete. */
  readonly priceKeptAt: Date | null;
  /** The raised price. Null if the order still has its original price. */
  readonly repriced: StoredRepricing | null;
  readonly isCancelAsked: boolean;
  readonly error: string | null;
  /** The reason why a stuck transaction of the order has no bump. Null if nothing is stuck. */
  readonly stuck: string | null;
  /** Whether the order's leaves were deleted, because it was unpaid. Such an order can only be refunded. */
  readonly areLeavesDeleted: boolean;
  /** Hash of the deleted leaf in the address. Null if the leaf is not deleted, or the address has no leaf. */
  readonly leafHash: Buffer | null;
}

/** Fields of an order that are stored at its creation. */
export interface NewOrder
  extends Pick<
    Order,
    | 'id'
    | 'kind'
    | 'keyIndex'
    | 'ownIndex'
    | 'address'
    | 'paidTo'
    | 'amount'
    | 'quote'
    | 'request'
    | 'terms'
    | 'webhookUrl'
    | 'expiresAt'
  > {
  readonly script: Uint8Array;
  readonly refundScript: Uint8Array | null;
  /** One leaf for each reveal. */
  readonly leaves: readonly Uint8Array[];
  readonly files: readonly NewOrderFile[];
}

export interface NewOrderFile {
  /** Hash of the content that the customer sent. Null for a delegate without a file. */
  readonly sha256: Uint8Array | null;
  readonly mediaType: string | null;
  readonly s3Key: string | null;
  /** Fields of the file in answers, without its progress. */
  readonly shown: object;
}

export interface OrderFile {
  readonly index: number;
  readonly shown: Readonly<Record<string, unknown>>;
}

interface Row {
  readonly id: string;
  readonly kind: OrderKind;
  readonly state: OrderState;
  readonly step: number;
  readonly key_index: number;
  readonly own_index: number;
  readonly script: Buffer;
  readonly address: string;
  readonly paid_to: 'direct' | 'wallet';
  readonly amount: number;
  readonly extra_cost: number;
  readonly quote: StoredQuote;
  readonly request: OrderRequest;
  readonly terms: StoredTerms;
  readonly webhook_url: string | null;
  readonly refund_script: Buffer | null;
  readonly created_at: Date;
  readonly expires_at: Date;
  readonly paid_at: Date | null;
  readonly paid_estimate: number | null;
  readonly completed_at: Date | null;
  readonly price_kept_at: Date | null;
  readonly repriced: StoredRepricing | null;
  readonly is_cancel_asked: boolean;
  readonly error: string | null;
  readonly stuck: string | null;
  readonly are_leaves_deleted: boolean;
  readonly leaf_hash: Buffer | null;
}

const columns = `id, kind, state, step, key_index, own_index, script, address, paid_to, amount, extra_cost, quote, request,
  terms, webhook_url, refund_script, created_at, expires_at, paid_at, paid_estimate, completed_at, price_kept_at, repriced,
  cancel_asked_at IS NOT NULL AS is_cancel_asked, error, CASE WHEN state IN ('waiting-reveal', 'waiting-rune-balance', 'queued')
    THEN stuck END AS stuck,
  leaves_deleted_at IS NOT NULL AS are_leaves_deleted, leaf_hash`;

const orderOf = (row: Row): Order => ({
  id: row.id,
  kind: row.kind,
  state: row.state,
  step: row.step,
  keyIndex: row.key_index,
  ownIndex: row.own_index,
  script: row.script,
  address: row.address,
  paidTo: row.paid_to,
  amount: BigInt(row.amount),
  extraCost: BigInt(row.extra_cost),
  quote: row.quote,
  request: row.request,
  terms: row.terms,
  webhookUrl: row.webhook_url,
  refundScript: row.refund_script,
  createdAt: row.created_at,
  expiresAt: row.expires_at,
  paidAt: row.paid_at,
  paidEstimate: row.paid_estimate === null ? null : BigInt(row.paid_estimate),
  completedAt: row.completed_at,
  priceKeptAt: row.price_kept_at,
  repriced: row.repriced,
  isCancelAsked: row.is_cancel_asked,
  error: row.error,
  stuck: row.stuck,
  areLeavesDeleted: row.are_leaves_deleted,
  leafHash: row.leaf_hash,
});

/**
 * Stores a new order in the state `waiting-payment`, with its files and leaves. Short leaves are stored in the same
 * statement, and long leaves in further statements. Returns the time of the creation.
 *
 * @param checked settles when it is known whether the order may be stored. If `checked` rejects, this function sends no
 *   further statements, and rejects too
 */
export async function insertOrder(
  tx: pg.ClientBase,
  order: NewOrder,
  checked: Promise<unknown>,
): Promise<Date> {
  const [first = [], ...others] = partsOf(order.leaves);
  const { rows } = await tx.query<{ created_at: Date }>({
    // prepared once on each connection, because planning takes longer than the execution
    name: 'insert order',
    text: `WITH made AS (
      INSERT INTO service.orders (id, kind, state, key_index, own_index, script, address, paid_to, amount, quote, request,
                                  terms, webhook_url, refund_script, expires_at, look_at, referral)
      VALUES ($1::uuid, $15, 'waiting-payment', $2, $13, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $12, $14)
      RETURNING created_at
    ), files AS (
      INSERT INTO service.order_files (order_id, index, sha256, media_type, s3_key, shown)
      SELECT $1::uuid, f.place - 1, decode(f.sha256, 'hex'), f.media_type, f.s3_key, f.shown::jsonb
        FROM unnest($16::text[], $17::text[], $18::text[], $19::text[])
             WITH ORDINALITY AS f (sha256, media_type, s3_key, shown, place)
    ), leaves AS (
      INSERT INTO service.order_leaves (order_id, index, leaf) ${leavesOf('$1::uuid', '0', ['$20', '$21', '$22'])}
    ) SELECT created_at FROM made`,
    values: [
      order.id,
      order.keyIndex,
      Buffer.from(order.script),
      order.address,
      order.paidTo,
      order.amount,
      JSON.stringify(order.quote),
      JSON.stringify(order.request),
      JSON.stringify(order.terms),
      order.webhookUrl,
      order.refundScript === null ? null : Buffer.from(order.refundScript),
      order.expiresAt,
      order.ownIndex,
      order.request.referral,
      order.kind,
      order.files.map(({ sha256 }) => (sha256 === null ? null : Buffer.from(sha256).toString('hex'))),
      order.files.map(({ mediaType }) => mediaType),
      order.files.map(({ s3Key }) => s3Key),
      order.files.map(({ shown }) => JSON.stringify(shown)),
      ...joined(first),
    ],
  });
  await checked;
  let stored = first.length;
  for (const part of others) {
    await tx.query(
      `INSERT INTO service.order_leaves (order_id, index, leaf) ${leavesOf('$1::uuid', '$2::integer', ['$3', '$4', '$5'])}`,
      [order.id, stored, ...joined(part)],
    );
    stored += part.length;
  }
  const [row] = rows;
  assert(row !== undefined, 'the order was stored');
  return row.created_at;
}

/**
 * Maximum number of leaf bytes in one statement. An order has up to 50 MB of leaves. Sending 1 MB blocks the event loop
 * for 4 ms.
 */
const leafBytesAtOnce = 1_000_000;

/**
 * SQL: rows of leaves that were sent as one value. An array of byte strings would be sent as hex, which takes five
 * times as long.
 */
const leavesOf = (
  order: string,
  first: string,
  [bytes, ends, lengths]: readonly [string, string, string],
): string =>
  `SELECT ${order}, ${first} + l.nth - 1, substring(${bytes}::bytea FROM l."end" - l.length + 1 FOR l.length)
     FROM unnest(${ends}::integer[], ${lengths}::integer[]) WITH ORDINALITY AS l ("end", length, nth)`;

/** Values for `leavesOf`: the joined bytes, the end of each leaf, and its length. */
function joined(leaves: readonly Uint8Array[]): readonly [Buffer, readonly number[], readonly number[]] {
  let end = 0;
  const ends = leaves.map(({ length }) => (end += length));
  return [Buffer.concat(leaves), ends, leaves.map(({ length }) => length)];
}

/** Groups of leaves that are stored together. The sequence of the leaves is kept. */
function partsOf(leaves: readonly Uint8Array[]): Uint8Array[][] {
  const parts: Uint8Array[][] = [];
  let bytes = 0;
  for (const leaf of leaves) {
    bytes += leaf.length;
    const last = parts.at(-1);
    if (last !== undefined && bytes <= leafBytesAtOnce) last.push(leaf);
    else {
      parts.push([leaf]);
      bytes = leaf.length;
    }
  }
  return parts;
}

/** Returns an order, or null if no order has this id. */
export async function readOrder(client: pg.Pool | pg.ClientBase, id: string): Promise<Order | null> {
  const { rows } = await client.query<Row>(`SELECT ${columns} FROM service.orders WHERE id = $1`, [id]);
  return rows[0] === undefined ? null : orderOf(rows[0]);
}

/**
 * Returns an order, locked against other transactions until this transaction ends. Returns null if no order has this
 * id.
 */
export async function lockOrder(tx: pg.ClientBase, id: string): Promise<Order | null> {
  const { rows } = await tx.query<Row>(`SELECT ${columns} FROM service.orders WHERE id = $1 FOR UPDATE`, [
    id,
  ]);
  return rows[0] === undefined ? null : orderOf(rows[0]);
}

/** The leaves of an order's reveals, in the sequence of the reveals. Empty once the leaves were deleted. */
export async function readLeaves(client: pg.Pool | pg.ClientBase, id: string): Promise<Uint8Array[]> {
  const { rows } = await client.query<{ leaf: Buffer }>(
    'SELECT leaf FROM service.order_leaves WHERE order_id = $1 ORDER BY index',
    [id],
  );
  return rows.map(({ leaf }) => leaf);
}

/**
 * The leaf in the address of an order, or the hash of the deleted leaf, or neither. The order's key and this value give
 * the address.
 */
export async function chargedLeaf(
  client: pg.Pool | pg.ClientBase,
  order: Pick<Order, 'id' | 'paidTo' | 'leafHash'>,
): Promise<Pick<OwnScript, 'leafScript' | 'leafHash'>> {
  if (order.paidTo === 'wallet') return { leafScript: null };
  if (order.leafHash !== null) return { leafScript: null, leafHash: order.leafHash };
  const [leafScript] = await readLeaves(client, order.id);
  assert(leafScript !== undefined, `order ${order.id} has the leaf of its address`);
  return { leafScript };
}

/** Maximum number of file rows to read at once. Reading them takes some milliseconds of the event loop. */
const filesAtOnce = 1000;

/** The files of an order, sorted by index. Files never change, so the pages are consistent with each other. */
export async function readOrderFiles(client: pg.Pool | pg.ClientBase, id: string): Promise<OrderFile[]> {
  const files: OrderFile[] = [];
  for (;;) {
    const { rows } = await client.query<OrderFile>(
      'SELECT index, shown FROM service.order_files WHERE order_id = $1 AND index >= $2 ORDER BY index LIMIT $3',
      [id, files.length, filesAtOnce],
    );
    files.push(...rows);
    if (rows.length < filesAtOnce) return files;
  }
}

/** Orders that are due to be examined, the longest due first. */
export async function dueOrders(client: pg.ClientBase, now: Date, limit: number): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM service.orders WHERE look_at <= $1 ORDER BY look_at LIMIT $2',
    [now, limit],
  );
  return rows.map(({ id }) => id);
}

/**
 * Orders that a new block may change, even if the block pays none of them:
 *
 * - orders that wait for a depth or for the index
 * - orders whose inventory sat the block may spend
 * - orders with a given-up reveal that a miner may have
 * - failed orders whose inscription another transaction took before its burn, or whose name was taken, because a
 *   reorganisation may return it
 */
export async function ordersWaitingForBlocks(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.orders
      WHERE state IN ('waiting-confirmation', 'prep', 'waiting-rune-balance', 'queued')
         OR (state IN ('waiting-payment', 'waiting-parent', 'waiting-refund')
             AND EXISTS (SELECT FROM service.order_parents WHERE order_id = id))
         OR (state = 'waiting-refund' AND ${hasPackage('orders.id')})
         OR (state = 'waiting-payment'
             AND EXISTS (SELECT FROM service.reserved_outputs WHERE order_id = id))
         OR (state = 'error'
             AND EXISTS (SELECT FROM service.wallet_transactions AS t
                          WHERE t.order_id = orders.id AND t.kind = 'burn' AND t.superseded_at IS NULL))
         OR (state = 'waiting-payment' AND ${hasShallowFee('orders.id')})
         OR (state = 'error' AND EXISTS (SELECT FROM service.etchings AS e WHERE e.order_id = orders.id))
      ORDER BY created_at`,
  );
  return rows.map(({ id }) => id);
}

/** Number of recent blocks that payments remember. After a restart, older payments are not examined again. */
const lookedBackBlocks = 144;

/**
 * Orders that are finished, and have payments in blocks that the index received since the last check. The contents of
 * these payments decide what is refunded.
 *
 * @param after height of the index at the last check; null if it is unknown
 * @param height current height of the index; null if the index is empty
 */
export async function ordersPaidInBlocks(
  client: pg.ClientBase,
  after: Height | null,
  height: Height | null,
): Promise<string[]> {
  if (height === null) return [];
  const scripts = await scriptsPaidInBlocks(client, after ?? height - lookedBackBlocks, height);
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.orders WHERE script = ANY($1)
        AND state IN ('completed', 'expired', 'cancelled', 'waiting-refund', 'refunded')`,
    [scripts],
  );
  return rows.map(({ id }) => id);
}

/** Delivered orders whose inscriptions a reorganisation may have removed. */
export async function recentlyDeliveredOrders(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    `SELECT id FROM service.orders WHERE state = 'completed' AND completed_at > now() - interval '7 days'
      ORDER BY completed_at`,
  );
  return rows.map(({ id }) => id);
}

/** Moves an order to a state, and records the event. */
export async function moveOrder(
  tx: pg.ClientBase,
  { id, state }: Pick<Order, 'id' | 'state'>,
  event: OrderEvent,
  to: OrderState,
  more: { readonly error?: string | null } = {},
): Promise<void> {
  await tx.query(
    `UPDATE service.orders SET state = $2, step = step + 1, error = $3,
            paid_at = CASE WHEN $2 IN ('prep', 'error') THEN coalesce(paid_at, now()) ELSE paid_at END,
            completed_at = CASE WHEN $2 IN ('completed', 'refunded') THEN now() ELSE completed_at END
      WHERE id = $1`,
    [id, to, more.error ?? null],
  );
  await recordEvent(tx, id, event, state, to);
}

/** Records an event. `to` is null if the state refuses the event. */
export async function recordEvent(
  tx: pg.ClientBase,
  id: string,
  event: OrderEvent,
  from: OrderState,
  to: OrderState | null,
): Promise<void> {
  await tx.query(
    'INSERT INTO service.order_events (order_id, event, from_state, to_state) VALUES ($1, $2, $3, $4)',
    [id, event, from, to],
  );
}

/** Whether a requested cancellation was carried out. From then on, the payments of a repriced order are owed. */
export const isCancelled = ({
  state,
  repriced,
  isCancelAsked,
}: Pick<Order, 'state' | 'repriced' | 'isCancelAsked'>): boolean =>
  state === 'cancelled' ||
  (repriced !== null && isCancelAsked && (state === 'waiting-refund' || state === 'refunded'));

/** Sets the time at which an order is examined without an event. If `at` is null, only events make the order due. */
export async function lookAgain(tx: pg.ClientBase, id: string, at: Date | null): Promise<void> {
  await tx.query('UPDATE service.orders SET look_at = $2 WHERE id = $1 AND look_at IS DISTINCT FROM $2', [
    id,
    at,
  ]);
}

/** Makes orders due in the next round. */
export async function lookSoon(tx: pg.ClientBase, ids: readonly string[]): Promise<void> {
  if (ids.length === 0) return;
  await tx.query('UPDATE service.orders SET look_at = now() WHERE id = ANY($1::uuid[])', [ids]);
}

/** Sets the script to which an order's refunds go. */
export async function setRefundScript(tx: pg.ClientBase, id: string, script: Uint8Array): Promise<void> {
  await tx.query('UPDATE service.orders SET refund_script = $2 WHERE id = $1', [id, Buffer.from(script)]);
}

/** The number of the last payment change that orders have processed. */
export async function readOrdersOffset(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ change: number }>('SELECT change FROM service.orders_offset');
  return rows[0]?.change ?? 0;
}

export async function moveOrdersOffset(client: pg.ClientBase, change: number): Promise<void> {
  await client.query(
    `INSERT INTO service.orders_offset (change) VALUES ($1) ON CONFLICT (one) DO UPDATE SET change = excluded.change`,
    [change],
  );
}

/**
 * The last blocks of the index and of the payments. Hashes are in internal order. A value is null if there are no
 * blocks.
 */
export interface Tips {
  readonly height: Height | null;
  readonly index: Buffer | null;
  readonly payments: Buffer | null;
}

/**
 * The last blocks of the index and the payments. If the result differs from an earlier result, a block was added or
 * removed.
 */
export async function tipsOf(client: pg.ClientBase): Promise<Tips> {
  const { rows } = await client.query<Tips>(
    `SELECT ${indexTipHeight} AS height, ${indexTipHash} AS index,
            ${paymentsTipHash} AS payments`,
  );
  return rows[0] ?? { height: null, index: null, payments: null };
}

/** Orders in a state, the newest first. If `state` is null, orders in all states. */
export async function ordersInState(
  client: pg.Pool,
  state: OrderState | null,
  limit: number,
): Promise<Order[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.orders WHERE $1::text IS NULL OR state = $1 ORDER BY created_at DESC, id LIMIT $2`,
    [state, limit],
  );
  return rows.map(orderOf);
}

/** The newest orders with a stuck transaction. */
export async function stuckOrders(client: pg.Pool, limit: number): Promise<Order[]> {
  const { rows } = await client.query<Row>(
    `SELECT ${columns} FROM service.orders WHERE stuck IS NOT NULL ORDER BY created_at DESC, id LIMIT $1`,
    [limit],
  );
  return rows.map(orderOf);
}

/** Numbers of orders that wait for an operator. */
export async function countTroubles(
  client: pg.Pool,
): Promise<{ readonly failed: number; readonly stuck: number }> {
  const { rows } = await client.query<{ failed: number; stuck: number }>(
    `SELECT count(*) FILTER (WHERE state = 'error') AS failed, count(*) FILTER (WHERE stuck IS NOT NULL) AS stuck
       FROM service.orders`,
  );
  return rows[0] ?? { failed: 0, stuck: 0 };
}

/** Events of an order, in sequence. `to` is null if the state refused the event. */
export async function readEvents(
  client: pg.Pool | pg.ClientBase,
  id: string,
): Promise<
  {
    readonly event: OrderEvent;
    readonly from: OrderState;
    readonly to: OrderState | null;
    readonly at: Date;
  }[]
> {
  const { rows } = await client.query<{
    event: OrderEvent;
    from: OrderState;
    to: OrderState | null;
    at: Date;
  }>(
    'SELECT event, from_state AS "from", to_state AS "to", at FROM service.order_events WHERE order_id = $1 ORDER BY id',
    [id],
  );
  return rows;
}
