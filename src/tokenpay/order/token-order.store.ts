import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { Txid } from '#kernel/primitives/hash.ts';
import type { ChargeState, TokenOrderState } from './charge-state.ts';
import {
  type Charge,
  type ChargeKind,
  chargeKinds,
  type FeePayment,
  type InscriptionFee,
  type TokenOrder,
} from './token-order.ts';

/** Stores a new order with its charges. */
export async function insertTokenOrder(tx: pg.ClientBase, order: TokenOrder): Promise<void> {
  const { inscription } = order;
  // the fee of an order with inscriptions is the charge of its inscription order, so it is not stored here
  const charges = chargeKinds
    .filter((kind) => kind === 'token' || inscription === null)
    .map((kind) => order.charges[kind]);
  await tx.query({
    name: 'insert token order',
    text: `WITH made AS (
      INSERT INTO service.token_orders (id, account, created_at, expires_at, ends_at, look_at, state, asset, base_fee,
        additional_fee, description, webhook_url, success_url, secret_key)
      VALUES ($1, $2, $3, $4, $4, CASE $5 WHEN 'pending' THEN $4::timestamptz END, $5, $6, $7, $8, $9, $10, $11, $12) RETURNING id)
    INSERT INTO service.token_charges (order_id, kind, amount, script, address, key_index, state)
    SELECT made.id, c.* FROM made, unnest($13::text[], $14::numeric[], $15::bytea[], $16::text[], $17::integer[],
                                          $18::text[]) AS c`,
    values: [
      order.id,
      order.account,
      order.createdAt,
      order.expiresAt,
      order.state,
      order.rune.asset,
      order.baseFee,
      order.additionalFee,
      order.description,
      order.webhookUrl,
      order.successUrl,
      order.secretKey === null ? null : Buffer.from(order.secretKey),
      charges.map(({ kind }) => kind),
      charges.map(({ amount }) => amount),
      charges.map(({ script }) => Buffer.from(script)),
      charges.map(({ address }) => address),
      charges.map(({ keyIndex }) => keyIndex),
      charges.map(({ state }) => state),
    ],
  });
  if (inscription !== null) await insertInscriptionFee(tx, order, inscription);
}

async function insertInscriptionFee(
  tx: pg.ClientBase,
  { id, charges: { fee } }: TokenOrder,
  { orderId }: InscriptionFee,
): Promise<void> {
  await tx.query(
    'INSERT INTO service.token_order_fees (token_order, order_id, amount, script, address) VALUES ($1, $2, $3, $4, $5)',
    [id, orderId, fee.amount, Buffer.from(fee.script), fee.address],
  );
}

interface ChargeRow {
  id: string;
  account: string;
  created_at: Date;
  expires_at: Date;
  ends_at: Date;
  state: TokenOrderState;
  asset: number;
  etching: Txid;
  name: string;
  divisibility: number;
  base_fee: string;
  additional_fee: string;
  description: string | null;
  webhook_url: string | null;
  success_url: string | null;
  secret_key: Buffer | null;
  kind: ChargeKind;
  amount: string;
  address: string;
  script: Buffer;
  key_index: number | null;
  charge_state: ChargeState;
  txid: Txid | null;
  inscription_order: string | null;
  paid: FeePayment | null;
}

const selectOrders = `SELECT o.id, o.account, o.created_at, o.expires_at, o.ends_at, o.state, o.asset, a.etching, r.name,
    r.divisibility, o.base_fee::text, o.additional_fee::text, o.description, o.webhook_url, o.success_url, o.secret_key,
    c.kind, c.amount::text, c.address, c.script, c.key_index, c.state AS charge_state, c.txid, c.inscription_order, c.paid
  FROM service.token_orders AS o
  CROSS JOIN LATERAL (
    SELECT kind, amount, address, script, key_index, state, txid, NULL::uuid AS inscription_order, NULL::text AS paid
      FROM service.token_charges WHERE order_id = o.id
    UNION ALL
    SELECT 'fee', amount, address, script, NULL, state, txid, order_id, paid
      FROM service.token_order_fees WHERE token_order = o.id) AS c
  JOIN service.token_runes AS r ON r.asset = o.asset
  JOIN service.assets AS a ON a.id = o.asset`;

/** Reads an order. Returns null if no order has this id. */
export async function readTokenOrder(
  client: pg.Pool | pg.ClientBase,
  id: string,
): Promise<TokenOrder | null> {
  const [order] = await readTokenOrders(client, [id]);
  return order ?? null;
}

/** Reads orders by their ids. The result is not sorted. */
export async function readTokenOrders(
  client: pg.Pool | pg.ClientBase,
  ids: readonly string[],
): Promise<TokenOrder[]> {
  const { rows } = await client.query<ChargeRow>(`${selectOrders} WHERE o.id = ANY($1::uuid[])`, [ids]);
  return ordersOf(rows);
}

/** Reads orders by their ids, and locks them until the transaction ends. */
export async function lockTokenOrders(tx: pg.ClientBase, ids: readonly string[]): Promise<TokenOrder[]> {
  await tx.query('SELECT FROM service.token_orders WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE', [ids]);
  return readTokenOrders(tx, ids);
}

function ordersOf(rows: readonly ChargeRow[]): TokenOrder[] {
  return [...Map.groupBy(rows, ({ id }) => id).values()].map((of) => {
    const [row] = of;
    const charges = new Map(of.map((charge) => [charge.kind, chargeOf(charge)]));
    const [fee, token] = chargeKinds.map((kind) => charges.get(kind));
    assert(row !== undefined && fee !== undefined && token !== undefined, 'an order has both charges');
    const ofFee = of.find(({ kind }) => kind === 'fee');
    return {
      id: row.id,
      account: row.account,
      createdAt: row.created_at,
      expiresAt: row.expires_at,
      endsAt: row.ends_at,
      state: row.state,
      rune: { asset: row.asset, etching: row.etching, name: row.name, divisibility: row.divisibility },
      baseFee: BigInt(row.base_fee),
      additionalFee: BigInt(row.additional_fee),
      description: row.description,
      webhookUrl: row.webhook_url,
      successUrl: row.success_url,
      secretKey: row.secret_key,
      charges: { fee, token },
      inscription:
        ofFee?.inscription_order == null || ofFee.paid === null
          ? null
          : { orderId: ofFee.inscription_order, paid: ofFee.paid },
    };
  });
}

const chargeOf = (row: ChargeRow): Charge => ({
  kind: row.kind,
  amount: BigInt(row.amount),
  address: row.address,
  script: row.script,
  keyIndex: row.key_index,
  state: row.charge_state,
  txid: row.txid,
});

/** The current state of an order. */
export interface TokenOrderStanding {
  readonly order: TokenOrder;
  /** The time at which the order must be examined without news. Null if only news can change the order. */
  readonly lookAt: Date | null;
  /** Whether payments of the order wait for a block, for more confirmations, or for the index. */
  readonly isWaiting: boolean;
}

/**
 * Stores the states of orders.
 *
 * @param news ids of changed orders, whose inscription orders become due
 */
export async function putStandings(
  tx: pg.ClientBase,
  standings: readonly TokenOrderStanding[],
  news: ReadonlySet<string>,
): Promise<void> {
  if (standings.length === 0) return;
  await tx.query(
    `UPDATE service.token_orders AS o
        SET state = n.state, look_at = n.look_at, is_waiting = n.is_waiting, ends_at = n.ends_at
       FROM unnest($1::uuid[], $2::text[], $3::timestamptz[], $4::boolean[], $5::timestamptz[])
            AS n (id, state, look_at, is_waiting, ends_at)
      WHERE o.id = n.id AND (o.state, o.look_at, o.is_waiting, o.ends_at)
            IS DISTINCT FROM (n.state, n.look_at, n.is_waiting, n.ends_at)`,
    [
      standings.map(({ order }) => order.id),
      standings.map(({ order }) => order.state),
      standings.map(({ lookAt }) => lookAt),
      standings.map(({ isWaiting }) => isWaiting),
      standings.map(({ order }) => order.endsAt),
    ],
  );
  const charges = standings.flatMap(({ order }) =>
    chargeKinds.map((kind) => ({ id: order.id, ...order.charges[kind] })),
  );
  await putFeeStates(tx, standings, news);
  await tx.query(
    `UPDATE service.token_charges AS c SET state = n.state, txid = n.txid
       FROM unnest($1::uuid[], $2::text[], $3::text[], $4::bytea[]) AS n (id, kind, state, txid)
      WHERE c.order_id = n.id AND c.kind = n.kind AND (c.state, c.txid) IS DISTINCT FROM (n.state, n.txid)`,
    [
      charges.map(({ id }) => id),
      charges.map(({ kind }) => kind),
      charges.map(({ state }) => state),
      charges.map(({ txid }) => (txid === null ? null : Buffer.from(txid))),
    ],
  );
}

/**
 * Stores the states of fee charges of inscription orders, and whether there is news, in one statement. If a transaction
 * updates a row twice, Postgres checks the row's foreign keys. This check would wait for the process that has locked
 * the inscription order, while that process waits for the token order.
 */
async function putFeeStates(
  tx: pg.ClientBase,
  standings: readonly TokenOrderStanding[],
  news: ReadonlySet<string>,
): Promise<void> {
  const fees = standings.filter(({ order }) => order.inscription !== null);
  if (fees.length === 0) return;
  await tx.query(
    `UPDATE service.token_order_fees AS f SET state = n.state, has_news = f.has_news OR n.is_news
       FROM unnest($1::uuid[], $2::text[], $3::boolean[]) AS n (id, state, is_news)
      WHERE f.token_order = n.id AND (f.state <> n.state OR (n.is_news AND NOT f.has_news))`,
    [
      fees.map(({ order }) => order.id),
      fees.map(({ order }) => order.charges.fee.state),
      fees.map(({ order }) => news.has(order.id)),
    ],
  );
}

/**
 * Orders whose time was over at the time `at`, the earliest first. `at` is the time up to which payments are known. If
 * it is null, the result is empty.
 */
export async function dueTokenOrders(
  client: pg.ClientBase,
  at: Date | null,
  limit: number,
): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM service.token_orders WHERE look_at <= $1 ORDER BY look_at LIMIT $2',
    [at, limit],
  );
  return rows.map(({ id }) => id);
}

/** Orders with payments that a new block may change. */
export async function waitingTokenOrders(client: pg.ClientBase): Promise<string[]> {
  const { rows } = await client.query<{ id: string }>(
    'SELECT id FROM service.token_orders WHERE is_waiting ORDER BY id',
  );
  return rows.map(({ id }) => id);
}

/** Makes an order due at every block until its state is stored. */
export async function keepWaiting(client: pg.ClientBase, id: string): Promise<void> {
  await client.query('UPDATE service.token_orders SET is_waiting = true WHERE id = $1', [id]);
}

/** Number of the last payment change that was processed. */
export async function readTokenOffset(client: pg.ClientBase): Promise<number> {
  const { rows } = await client.query<{ change: number }>('SELECT change FROM service.token_orders_offset');
  return rows[0]?.change ?? 0;
}

export async function moveTokenOffset(tx: pg.ClientBase, change: number): Promise<void> {
  await tx.query('UPDATE service.token_orders_offset SET change = greatest(change, $1)', [change]);
}
