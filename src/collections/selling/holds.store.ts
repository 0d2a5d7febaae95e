import assert from 'node:assert/strict';
import type pg from 'pg';
import { lockCollectionRow } from '#collections/collection/collection.store.ts';
import { collectionBounds } from '#collections/collection/collection-bounds.ts';
import { BatchedReads } from '#kernel/concurrency/batched-reads.ts';
import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { type AskedHold, decideHolds, type HoldTerms } from './decide-holds.ts';
import { isFree } from './free-items.ts';
import {
  countOf,
  type HeldItem,
  type HeldItems,
  type HoldRequest,
  type RefusedHold,
  unknownCollection,
} from './hold-request.ts';
import { readAllowancesOf, readFree, readSale, readUnpaidOf, type SaleState } from './sale.queries.ts';

/** SQL: the columns of an item that come from its file `f`. */
export const heldFile = 'f.name, f.sha256, f.bytes, f.media_type AS "mediaType"';

/**
 * How long items are held before their order must be stored, in ms. Reading the files and pricing the order take
 * milliseconds.
 */
const makingMs = 60_000;

/**
 * Maximum number of requests in one transaction. 16 requests for 1,000 items each write 16,000 rows in half a second.
 */
const heldTogether = 16;
/**
 * Maximum number of transactions at the same time. While one transaction waits for a row that an approval has locked,
 * another can run.
 */
const transactionsAtOnce = 2;

/**
 * Holds items for orders that are being created. Requests that arrive during a transaction wait and share the next
 * transaction, which locks each collection only once. A transaction needs six round trips for a collection.
 */
export class ItemHolds {
  readonly #reads: BatchedReads<HoldRequest, HeldItems | RefusedHold | FailedHold>;

  constructor(pool: pg.Pool) {
    this.#reads = new BatchedReads((requests) => holdItems(pool, requests), {
      batches: transactionsAtOnce,
      questions: heldTogether,
    });
  }

  /**
   * Holds items for one order. If the transaction of its collection fails, no items are held and the error is thrown.
   */
  async ask(request: HoldRequest, signal: AbortSignal): Promise<HeldItems | RefusedHold> {
    const answer = await this.#reads.ask(request, signal);
    if (answer.kind === 'failed') throw answer.error;
    return answer;
  }
}

/**
 * The error of a failed transaction for a collection. Requests for other collections in the same batch keep their
 * items.
 */
interface FailedHold {
  readonly kind: 'failed';
  readonly error: unknown;
}

/**
 * Holds all items of each order that is being created, or refuses the request. The results have the order of the
 * requests. Transactions for the same collection wait for each other at the collection's row, so that each counts the
 * items of earlier transactions (ADR 90).
 */
export async function holdItems(
  pool: pg.Pool,
  requests: readonly HoldRequest[],
): Promise<(HeldItems | RefusedHold | FailedHold)[]> {
  const answers = new Map<HoldRequest, HeldItems | RefusedHold | FailedHold>();
  for (const [collection, together] of Map.groupBy(requests, (request) => request.collection)) {
    const held = await holdOfCollection(pool, collection, together);
    for (const [nth, request] of together.entries()) answers.set(request, placed(held, nth));
  }
  return requests.map((request) => {
    const answer = answers.get(request);
    assert(answer !== undefined, 'each request is answered');
    return answer;
  });
}

async function holdOfCollection(
  pool: pg.Pool,
  collection: string,
  requests: readonly HoldRequest[],
): Promise<(HeldItems | RefusedHold | FailedHold)[]> {
  try {
    return await withTransaction(pool, (tx) => holdItemsOf(tx, collection, requests));
  } catch (error) {
    return requests.map(() => ({ kind: 'failed', error }));
  }
}

async function holdItemsOf(
  tx: pg.ClientBase,
  collection: string,
  requests: readonly HoldRequest[],
): Promise<(HeldItems | RefusedHold)[]> {
  await lockCollectionRow(tx, collection);
  await freeAbandoned(tx, collection, new Date(Math.max(...requests.map(({ now }) => now.getTime()))));
  const sale = await readSale(tx, collection);
  if (sale === null) return requests.map(() => unknownCollection(collection));
  const named = requests.flatMap(({ items }) => (items.kind === 'named' ? items.numbers : []));
  const asked = await readAsked(tx, collection, requests);
  const decisions = decideHolds(sale, asked, await readFree(tx, collection, named));
  const given = requests.flatMap((request, nth) => {
    const terms = placed(decisions, nth);
    return terms.kind === 'terms' ? [{ request, terms }] : [];
  });
  const items = await takeItems(tx, sale, collection, given);
  return requests.map(({ orderId }, nth) => {
    const decision = placed(decisions, nth);
    if (decision.kind !== 'terms') return decision;
    const { phase, price, cheaper } = decision;
    return {
      kind: 'held',
      phase,
      price,
      creatorAddress: creatorOf(sale, price),
      runePrice: sale.runePrice,
      cheaper,
      items: items.get(orderId) ?? [],
    };
  });
}

/** The result of the request at an index. */
function placed<Answer>(answers: readonly Answer[], nth: number): Answer {
  const answer = answers[nth];
  assert(answer !== undefined, 'each request is answered');
  return answer;
}

const nothingUnpaid = { ofClient: 0, ofNetwork: 0 };

/**
 * Adds data about clients and receiving addresses to requests. If a key has no bound, its unpaid items are not counted,
 * because a shop has thousands of orders.
 */
async function readAsked(
  tx: pg.ClientBase,
  collection: string,
  requests: readonly HoldRequest[],
): Promise<AskedHold[]> {
  const scripts = requests.map(({ script }) => script);
  const allowances = await readAllowancesOf(tx, collection, scripts);
  const known = requests.map((request, nth) => ({
    ...request,
    network: networkOfClient(request.client),
    allowances: placed(allowances, nth),
  }));
  const bounded = known.filter(({ bounds }) => bounds.client < collectionBounds.items);
  const unpaid = await readUnpaidOf(tx, bounded);
  const byRequest = new Map(bounded.map((request, nth) => [request, placed(unpaid, nth)]));
  return known.map((request) => ({ ...request, ...(byRequest.get(request) ?? nothingUnpaid) }));
}

const creatorOf = ({ creatorAddress }: Pick<SaleState, 'creatorAddress'>, price: bigint): string | null =>
  price === 0n ? null : creatorAddress;

interface GivenHold {
  readonly request: HoldRequest;
  readonly terms: HoldTerms;
}

/**
 * Assigns the items to these orders, updates the counters, and stores the holds. One statement does this, completely or
 * not at all. Drawn items are the first free items that these orders do not name.
 */
async function takeItems(
  tx: pg.ClientBase,
  sale: SaleState,
  collection: string,
  given: readonly GivenHold[],
): Promise<ReadonlyMap<string, readonly HeldItem[]>> {
  if (given.length === 0) return new Map();
  const named = given.flatMap(({ request: { orderId, items } }) =>
    items.kind === 'named' ? items.numbers.map((item, place) => ({ orderId, item, place })) : [],
  );
  const drawn = given.flatMap(({ request: { orderId, items } }) =>
    items.kind === 'drawn' ? Array.from({ length: items.count }, (_of, place) => ({ orderId, place })) : [],
  );
  const phases = [...Map.groupBy(given, ({ terms }) => terms.phase)];
  const { rows } = await tx.query<HeldItem & { order_id: string }>({
    name: 'take mint items',
    text: takeStatement,
    values: [
      collection,
      named.map(({ item }) => item),
      named.map(({ orderId }) => orderId),
      named.map(({ place }) => place),
      drawn.map(({ orderId }) => orderId),
      drawn.map(({ place }) => place),
      drawn.length,
      given.map(({ request }) => request.orderId),
      given.map(({ terms }) => terms.phase),
      given.map(({ request }) => countOf(request.items)),
      given.map(({ request }) => request.items.kind === 'named'),
      given.map(({ request }) => Buffer.from(request.script)),
      given.map(({ terms }) => terms.price),
      given.map(({ terms }) => creatorOf(sale, terms.price)),
      given.map(({ request }) => request.client),
      given.map(({ request }) => new Date(request.now.getTime() + makingMs)),
      named.length + drawn.length,
      phases.map(([phase]) => phase),
      phases.map(([, of]) => of.reduce((sum, { request }) => sum + countOf(request.items), 0)),
    ],
  });
  // this holds, because the row of the collection is locked, and its counters show that enough items are free
  assert(
    rows.length === named.length + drawn.length,
    `collection ${collection} has fewer free items than it counts`,
  );
  const byOrder = Map.groupBy(rows, (row) => row.order_id);
  return new Map(
    [...byOrder].map(([orderId, held]) => [orderId, held.map(({ order_id: _order, ...item }) => item)]),
  );
}

const takeStatement = `WITH named AS (
    SELECT * FROM unnest($2::integer[], $3::uuid[], $4::integer[]) AS n(item, order_id, place)
  ), free AS (
    SELECT item, row_number() OVER (ORDER BY draw) AS nth FROM (
      SELECT item, draw FROM service.mint_items
       WHERE collection = $1 AND order_id IS NULL AND item <> ALL($2::integer[]) ORDER BY draw LIMIT $7::integer) AS first
  ), wanted AS (
    SELECT item, order_id, place FROM named
    UNION ALL
    SELECT free.item, d.order_id, d.place
      FROM free JOIN unnest($5::uuid[], $6::integer[]) WITH ORDINALITY AS d(order_id, place, nth) USING (nth)
  ), taken AS (
    UPDATE service.mint_items AS m SET order_id = w.order_id, order_place = w.place
      FROM wanted AS w WHERE m.collection = $1 AND m.item = w.item AND ${isFree('m')}
    RETURNING m.item, m.file, m.order_id, m.order_place
  ), counted AS (
    UPDATE service.mint_collections SET taken = taken + $17, unpaid = unpaid + $17 WHERE id = $1
  ), counted_phases AS (
    UPDATE service.mint_phases AS p SET taken = p.taken + s.items
      FROM unnest($18::text[], $19::integer[]) AS s(phase, items) WHERE p.collection = $1 AND p.phase = s.phase
  ), noted AS (
    INSERT INTO service.mint_orders
      (order_id, collection, phase, items, numbers, is_requested, script, price, creator_address, client, standing, held_until)
    SELECT o.order_id, $1, o.phase, o.items,
           (SELECT array_agg(w.item ORDER BY w.place) FROM wanted AS w WHERE w.order_id = o.order_id),
           o.is_requested, o.script, o.price, o.creator_address, o.client, 'making', o.held_until
      FROM unnest($8::uuid[], $9::text[], $10::integer[], $11::boolean[], $12::bytea[], $13::bigint[], $14::text[],
                  $15::text[], $16::timestamptz[])
        AS o(order_id, phase, items, is_requested, script, price, creator_address, client, held_until)
  )
  SELECT t.order_id, t.item, ${heldFile}
    FROM taken AS t JOIN service.mint_files AS f ON f.collection = $1 AND f.place = t.file
   ORDER BY t.order_id, t.order_place`;

/**
 * Frees the items of orders that were not stored in time. Such orders are rare, because they occur only if a process
 * dies while it creates an order.
 */
async function freeAbandoned(tx: pg.ClientBase, collection: string, now: Date): Promise<void> {
  const { rows } = await tx.query<{ order_id: string }>({
    name: 'abandoned mint orders',
    text: `SELECT order_id FROM service.mint_orders WHERE collection = $1 AND standing = 'making' AND held_until < $2 FOR UPDATE`,
    values: [collection, now],
  });
  for (const { order_id: orderId } of rows) await releaseItems(tx, orderId);
}

/**
 * Confirms the hold of an order that is stored in this transaction. Returns false if the hold has ended; its items are
 * then free again.
 */
export async function confirmHold(tx: pg.ClientBase, orderId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'confirm mint hold',
    text: `UPDATE service.mint_orders SET standing = 'unpaid', held_until = NULL WHERE order_id = $1 AND standing = 'making'`,
    values: [orderId],
  });
  return rowCount === 1;
}

/** Frees the held items of an order that will not be created. */
export function giveUpHold(pool: pg.Pool, orderId: string): Promise<void> {
  return withTransaction(pool, async (tx) => {
    await lockCollectionOf(tx, orderId);
    const { rowCount } = await tx.query(
      `SELECT FROM service.mint_orders WHERE order_id = $1 AND standing = 'making' FOR UPDATE`,
      [orderId],
    );
    if (rowCount === 1) await releaseItems(tx, orderId);
  });
}

/** Locks the collection of an order. Every change to the owner of an item must take this lock first. */
export async function lockCollectionOf(tx: pg.ClientBase, orderId: string): Promise<void> {
  await tx.query(
    `SELECT FROM service.mint_collections WHERE id = (SELECT collection FROM service.mint_orders WHERE order_id = $1)
        FOR NO KEY UPDATE`,
    [orderId],
  );
}

/** Frees the items of an order and subtracts them from the counters. The collection of the order must be locked. */
export async function releaseItems(
  tx: pg.ClientBase,
  orderId: string,
  standing: 'released' | 'refused' | 'late' = 'released',
): Promise<void> {
  await tx.query(
    `WITH before AS (
       SELECT order_id, collection, phase, items, standing FROM service.mint_orders
        WHERE order_id = $1 AND standing IN ('making', 'unpaid', 'allowed')
     ), freed AS (
       UPDATE service.mint_items SET order_id = NULL, order_place = NULL WHERE order_id = (SELECT order_id FROM before)
     ), counted AS (
       UPDATE service.mint_collections AS c SET taken = taken - b.items,
              unpaid = unpaid - CASE WHEN b.standing = 'allowed' THEN 0 ELSE b.items END
         FROM before AS b WHERE c.id = b.collection
     ), counted_phase AS (
       UPDATE service.mint_phases AS p SET taken = taken - b.items
         FROM before AS b WHERE p.collection = b.collection AND p.phase = b.phase
     )
     UPDATE service.mint_orders AS o SET standing = $2, held_until = NULL, client = NULL
       FROM before AS b WHERE o.order_id = b.order_id`,
    [orderId, standing],
  );
}
