import type pg from 'pg';
import { indexTipHash } from '#chain/blocks/index-tip.queries.ts';
import { placesOfMoves, placesOfReveals, type RevealedPlace } from '#chain/inscriptions/reveal.queries.ts';
import { displayHash, trustedTxid } from '#kernel/primitives/hash.ts';
import type { OrderKind } from '#orders/order/order-kind.ts';
import type { OrderState } from '#orders/order/order-machine.ts';
import { isReserving, type ReservingOrder } from '#orders/stock/reserved-until.ts';
import { paymentsTipHash } from '#payments/store/offset.store.ts';
import { readCoinsOf } from '#purse/coins/coins.store.ts';
import { readCoinsFill } from '#purse/coins/coins-fill.store.ts';
import { readSums } from '#purse/ledger/ledger.store.ts';
import { hasInput, isMined, isOfFamily } from '#purse/transactions/spends.store.ts';
import type { StoredPlan } from '#purse/transactions/stored-plan.ts';
import type {
  AuditedOrder,
  AuditedTransaction,
  Coin,
  IndexedInscription,
  LedgerLine,
  ListedCoin,
} from './audited-order.ts';

/** Maximum number of orders and of files in a page. Plans of 10,000 files take some megabytes. */
const pageOrders = 200;
const pageFiles = 10_000;

/**
 * Ids of the next page of orders. The list is empty at the end.
 *
 * @param after last id of the previous page, or null to start with the first order
 */
export async function nextOrderIds(client: pg.ClientBase, after: string | null): Promise<string[]> {
  const { rows } = await client.query<{ id: string; files: number }>(
    `SELECT id, (request->>'count')::integer AS files FROM service.orders
      WHERE $1::uuid IS NULL OR id > $1 ORDER BY id LIMIT $2`,
    [after, pageOrders],
  );
  let files = 0;
  const end = rows.findIndex((row) => {
    files += row.files;
    return files > pageFiles;
  });
  return rows.slice(0, end === -1 ? rows.length : Math.max(1, end)).map(({ id }) => id);
}

/** Hash of the last block if the index and the payments are at the same block; else null. */
export async function agreedTip(client: pg.ClientBase): Promise<string | null> {
  const { rows } = await client.query<{ hash: Buffer }>(
    `SELECT ${paymentsTipHash} AS hash WHERE ${paymentsTipHash} = ${indexTipHash}`,
  );
  return rows[0] === undefined ? null : displayHash(rows[0].hash);
}

/**
 * Reads orders with all data that an audit compares. The number of SQL statements does not depend on the number of
 * orders.
 */
export async function readAuditedOrders(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<AuditedOrder[]> {
  const { rows } = await client.query<{
    id: string;
    kind: OrderKind;
    state: OrderState;
    amount: string;
    created_at: Date;
    receivers: string[];
  }>(
    `SELECT id, kind, state, amount::text AS amount, created_at, array(SELECT jsonb_array_elements_text(terms->'receivers')) AS receivers
       FROM service.orders WHERE id = ANY($1::uuid[]) ORDER BY id`,
    [ids],
  );
  const payments = await readPaid(client, ids);
  const ledger = await readLines(client, ids);
  const transactions = await readTransactions(client, ids);
  const bumps = await readBumps(client, ids);
  const spentByOthers = await readSpentByOthers(client, ids);
  const keptStock = await readKeptStock(client, ids);
  const listed = await readListed(client, ids);
  return rows.map(({ id, kind, state, amount, created_at: createdAt, receivers }) => ({
    id,
    kind,
    state,
    amount: BigInt(amount),
    createdAt,
    receivers,
    payments: payments.get(id) ?? [],
    ledger: ledger.get(id) ?? [],
    transactions: [...(transactions.get(id) ?? []), ...(bumps.get(id) ?? [])],
    spentByOthers: spentByOthers.get(id) ?? [],
    keptStock: keptStock.get(id) ?? [],
    listed: listed === null ? null : (listed.get(id) ?? []),
  }));
}

async function readPaid(client: pg.ClientBase, ids: readonly string[]): Promise<Map<string, Coin[]>> {
  const { rows } = await client.query<{
    id: string;
    txid: Buffer;
    vout: number;
    value: string;
    script: string;
  }>(
    // outputs of our own transactions are left out, because a reveal may return a parent to its deposit for the next
    // reveal
    `SELECT s.id, p.txid, p.vout, p.value::text AS value, encode(p.script, 'hex') AS script
       FROM (SELECT id, script FROM service.orders WHERE id = ANY($1::uuid[])
             UNION ALL
             SELECT order_id, script FROM service.order_parents WHERE order_id = ANY($1::uuid[])) AS s
       JOIN service.payments_seen AS p USING (script)
      WHERE p.height IS NOT NULL AND NOT EXISTS (
        SELECT FROM service.wallet_transactions AS t WHERE t.txid = p.txid AND t.order_id = s.id)`,
    [ids],
  );
  return grouped(rows, ({ txid, vout, value, script }): Coin => {
    return { outpoint: `${hexOf(txid)}:${vout}`, value: BigInt(value), script };
  });
}

/**
 * Coins of orders in the wallet's table, and coins of bumps whose cost the orders share; null if the table is not
 * complete.
 */
async function readListed(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<Map<string, ListedCoin[]> | null> {
  if (!(await readCoinsFill(client)).isComplete) return null;
  const { rows } = await client.query<{ id: string; bump: Buffer }>(
    'SELECT order_id AS id, bump FROM service.bump_shares WHERE order_id = ANY($1::uuid[])',
    [ids],
  );
  const bumps = rows.map(({ id, bump }) => ({ id, txid: trustedTxid(bump) }));
  const coins = await readCoinsOf(
    client,
    ids,
    bumps.map(({ txid }) => txid),
  );
  const ofBumps = Map.groupBy(bumps, ({ txid }) => hexOf(txid));
  const lines = coins.flatMap(({ subject, txid, vout, value, script, isFree, isInBlock }) => {
    const coin = { outpoint: `${hexOf(txid)}:${vout}`, value, script: script ?? '', isFree, isInBlock };
    const owners = subject === null ? (ofBumps.get(hexOf(txid)) ?? []) : [{ id: subject }];
    return owners.map(({ id }) => ({ id, coin }));
  });
  return grouped(lines, ({ coin }) => coin);
}

async function readLines(client: pg.ClientBase, ids: readonly string[]): Promise<Map<string, LedgerLine[]>> {
  const lines = await readSums(client, ids);
  return grouped(lines, ({ txid, isReceipt, account, sats }): LedgerLine => {
    return { txid: hexOf(txid), isReceipt, account, sats };
  });
}

async function readTransactions(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<Map<string, AuditedTransaction[]>> {
  const { rows } = await client.query<{
    id: string;
    txid: Buffer;
    kind: string;
    index: number;
    files: number;
    plan: StoredPlan;
    fee: string;
    is_superseded: boolean;
    is_seen: boolean;
  }>(
    `SELECT t.order_id AS id, t.txid, t.kind, t.index, t.files, t.plan, t.fee::text AS fee,
            t.superseded_at IS NOT NULL AS is_superseded,
            ${isMined('t')} AS is_seen
       FROM service.wallet_transactions AS t WHERE t.order_id = ANY($1::uuid[])`,
    [ids],
  );
  const reveals = rows.filter(({ kind }) => kind === 'reveal');
  // superseded reveals are included, so an order can have several reveals with the same index
  const revealsAt = Map.groupBy(reveals, ({ id, index }) => `${id} ${index}`);
  const burned = rows
    .filter(({ kind }) => kind === 'burn')
    .flatMap(({ txid, id, index }) =>
      (revealsAt.get(`${id} ${index}`) ?? []).map((reveal) => ({ txid, reveal: reveal.txid })),
    );
  const inscriptions = inscriptionsAt([
    ...(await placesOfReveals(
      client,
      reveals.map(({ txid }) => txid),
    )),
    ...(await placesOfMoves(client, burned)),
  ]);
  return grouped(rows, (row): AuditedTransaction => {
    const { kind, index, files, plan } = row;
    const txid = hexOf(row.txid);
    const facts = { isSuperseded: row.is_superseded, isSeenInBlock: row.is_seen };
    return {
      txid,
      kind,
      index,
      files,
      plan,
      fee: BigInt(row.fee),
      ...facts,
      inscriptions: inscriptions.get(txid) ?? [],
    };
  });
}

/** Bumps whose fees the orders share, by order. */
async function readBumps(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<Map<string, AuditedTransaction[]>> {
  const { rows } = await client.query<{
    id: string;
    txid: Buffer;
    plan: StoredPlan;
    fee: string;
    is_seen: boolean;
  }>(
    `SELECT s.order_id AS id, b.txid, b.plan, s.fee::text AS fee,
            ${isMined('b')} AS is_seen
       FROM service.bump_shares AS s JOIN service.wallet_transactions AS b ON b.txid = s.bump
      WHERE s.order_id = ANY($1::uuid[]) AND s.fee > 0`,
    [ids],
  );
  return grouped(
    rows,
    ({ txid, plan, fee, is_seen: isSeenInBlock }): AuditedTransaction => ({
      txid: hexOf(txid),
      kind: 'bump',
      index: 0,
      files: 0,
      plan,
      fee: BigInt(fee),
      isSuperseded: false,
      isSeenInBlock,
      inscriptions: [],
    }),
  );
}

/** Outputs of the orders' transactions that are spent by mined bumps or by mined transactions of other orders. */
async function readSpentByOthers(
  client: pg.ClientBase,
  ids: readonly string[],
): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{ id: string; txid: Buffer; vout: number }>(
    `SELECT DISTINCT made.order_id AS id, s.txid, s.vout
       FROM (SELECT order_id, txid FROM service.wallet_transactions WHERE order_id = ANY($1::uuid[])
             UNION ALL SELECT order_id, bump FROM service.bump_shares WHERE order_id = ANY($1::uuid[])) AS made
       JOIN service.wallet_spends AS s ON s.txid = made.txid
       JOIN service.wallet_transactions AS t ON ${isOfFamily('t', 's.family')}
      WHERE t.order_id IS DISTINCT FROM made.order_id AND ${isMined('t')} AND ${hasInput('t', 's')}`,
    [ids],
  );
  return grouped(rows, ({ txid, vout }) => `${hexOf(txid)}:${vout}`);
}

/**
 * How long a sat may stay reserved after the time when it should be released, in ms. The sat is released the next time
 * that its order is processed, and processing all orders takes minutes at most.
 */
const releasedWithinMs = 3_600_000;

/** Inventory outputs that orders still reserve, although they should have released them long ago. */
async function readKeptStock(client: pg.ClientBase, ids: readonly string[]): Promise<Map<string, string[]>> {
  const { rows } = await client.query<{
    id: string;
    state: OrderState;
    expires_at: Date;
    paid_at: Date | null;
    failed_at: Date | null;
    txid: Buffer;
    vout: number;
    now: Date;
  }>(
    `SELECT o.id, o.state, o.expires_at, o.paid_at, r.failed_at, r.txid, r.vout, now() AS now
       FROM service.reserved_outputs AS r JOIN service.orders AS o ON o.id = r.order_id
      WHERE r.order_id = ANY($1::uuid[]) AND r.released_at IS NULL`,
    [ids],
  );
  const kept = rows.filter(({ state, expires_at, paid_at, failed_at, now }) => {
    const order: Omit<ReservingOrder, 'id'> = {
      state,
      expiresAt: expires_at,
      paidAt: paid_at,
      failedAt: failed_at,
    };
    return !isReserving(order, new Date(now.getTime() - releasedWithinMs));
  });
  return grouped(kept, ({ txid, vout }) => `${hexOf(txid)}:${vout}`);
}

/** Inscriptions, grouped by the transaction that moved them to their current output. */
const inscriptionsAt = (places: readonly RevealedPlace[]): Map<string, IndexedInscription[]> =>
  grouped(
    places.map((place) => ({ ...place, id: hexOf(place.txid) })),
    ({ index, vout, offset, script }): IndexedInscription => ({ index, vout, offset, script }),
  );

function grouped<Row extends { readonly id: string }, Item>(
  rows: readonly Row[],
  itemOf: (row: Row) => Item,
): Map<string, Item[]> {
  const groups = new Map<string, Item[]>();
  for (const row of rows) {
    const group = groups.get(row.id) ?? [];
    group.push(itemOf(row));
    groups.set(row.id, group);
  }
  return groups;
}

const hexOf = (txid: Uint8Array): string => displayHash(txid);
