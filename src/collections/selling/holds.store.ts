import type pg from 'pg';
import { lockCollectionRow } from '#collections/collection/collection.store.ts';
import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { choosePhase, type Phase } from './choose-phase.ts';
import { type HoldBounds, holdProblem } from './hold-bounds.ts';

/** Items that an order in the making wants. */
export interface HoldRequest {
  readonly orderId: string;
  readonly collection: string;
  /** `drawn`: any free ones. `named`: these, by number. */
  readonly items:
    | { readonly kind: 'drawn'; readonly count: number }
    | { readonly kind: 'named'; readonly numbers: readonly number[] };
  /** The script of the address that gets them. */
  readonly script: Uint8Array;
  readonly client: string;
  readonly bounds: HoldBounds;
  readonly now: Date;
}

/** An item with the file that was approved for it. */
export interface HeldItem {
  /** From 1. */
  readonly item: number;
  readonly name: string;
  readonly sha256: Buffer;
  readonly bytes: number;
  readonly mediaType: string;
}

export interface HeldItems {
  readonly kind: 'held';
  readonly phase: string;
  /** Sats an item for the creator. */
  readonly price: bigint;
  readonly creatorAddress: string | null;
  /** In the order of the request. */
  readonly items: readonly HeldItem[];
}

/** `closed`: nothing is sold to this request now. `bounds`: too much is unpaid. `taken`: others have named items. */
export interface RefusedHold {
  readonly kind: 'unknown' | 'closed' | 'bounds' | 'taken' | 'runes';
  readonly reason: string;
}

/** Items that a request asks for. Pure. */
export const countOf = (items: HoldRequest['items']): number =>
  items.kind === 'drawn' ? items.count : items.numbers.length;

export const unknownCollection = (id: string) =>
  ({ kind: 'unknown', reason: `no such collection ${id}` }) as const satisfies RefusedHold;

export const saleClosed = 'The sale of this collection is closed.';
export const paidInRunes = {
  kind: 'runes',
  reason: 'This collection is paid for in runes, which this service does not take yet.',
} as const satisfies RefusedHold;
export const itemsTaken = 'Another order has one of these items.';

/** Why numbers name no item; null: each names one. Pure. */
export const beyondSupply = (items: HoldRequest['items'], totalCount: number): string | null => {
  const beyond = items.kind === 'named' ? items.numbers.find((number) => number > totalCount) : undefined;
  return beyond === undefined
    ? null
    : `The collection has no item ${beyond}: its items are 1 to ${totalCount}.`;
};

/** SQL: the fields of an item that its file `f` has. */
export const heldFile = 'f.name, f.sha256, f.bytes, f.media_type AS "mediaType"';

/** From the hold to the stored order: its files are read and it is quoted, which takes milliseconds. */
const makingMs = 60_000;

/**
 * Gives items to an order that is being made, or to none. Holds of a collection wait for each other at its row, so that
 * each counts what those before it have (ADR 90).
 */
export function holdItems(pool: pg.Pool, request: HoldRequest): Promise<HeldItems | RefusedHold> {
  return withTransaction(pool, async (tx) => {
    await lockCollectionRow(tx, request.collection);
    await freeAbandoned(tx, request.collection, request.now);
    const state = await readSale(tx, request);
    if (state === null) return unknownCollection(request.collection);
    const refusal = refusalOf(state, request);
    if (refusal !== null) return refusal;
    const chosen = choosePhase(
      { price: state.price, free: state.totalCount - state.taken, phases: state.phases },
      { count: countOf(request.items), allowances: state.allowances, now: request.now },
    );
    if (chosen.kind === 'refused') return { kind: 'closed', reason: chosen.reason };
    return takeItems(tx, request, { ...chosen, creatorAddress: state.creatorAddress });
  });
}

interface SaleState {
  readonly state: 'approved' | 'closed';
  readonly price: bigint;
  readonly creatorAddress: string | null;
  readonly isInRunes: boolean;
  readonly totalCount: number;
  readonly taken: number;
  readonly unpaid: number;
  readonly ofClient: number;
  readonly ofNetwork: number;
  readonly phases: readonly Phase[];
  readonly allowances: readonly { phase: string; items: number | null; paid: number }[];
}

/**
 * The collection, its phases, what they allow the address, and what is unpaid: one statement. Null: there is no
 * approved collection with this id.
 */
export async function readSale(
  tx: pg.ClientBase,
  { collection, script, client }: Pick<HoldRequest, 'collection' | 'script' | 'client'>,
): Promise<SaleState | null> {
  const network = networkOfClient(client);
  const { rows } = await tx.query<{
    state: 'approved' | 'closed';
    price: number;
    creator_address: string | null;
    in_runes: boolean;
    total_count: number;
    taken: number;
    unpaid: number;
    of_client: number;
    of_network: number;
    phases: readonly StoredPhase[];
    allowances: SaleState['allowances'];
  }>({
    name: 'read mint sale',
    text: `SELECT c.state, c.price, c.creator_address, c.alt_prices IS NOT NULL AS in_runes, c.total_count, c.taken, c.unpaid,
             (SELECT coalesce(sum(items), 0)::integer FROM service.mint_orders WHERE client = $3) AS of_client,
             (SELECT coalesce(sum(items), 0)::integer FROM service.mint_orders
               WHERE client >= $4 AND client < $4 || chr(1114111)) AS of_network,
             (SELECT coalesce(jsonb_agg(jsonb_build_object(
                'phase', p.phase, 'place', p.place, 'items', p.items, 'taken', p.taken, 'isPublic', p.is_public,
                'price', p.price::text, 'startsAt', p.starts_at, 'endsAt', p.ends_at)), '[]')
                FROM service.mint_phases AS p WHERE p.collection = c.id) AS phases,
             (SELECT coalesce(jsonb_agg(jsonb_build_object('phase', a.phase, 'items', a.items, 'paid',
                (SELECT coalesce(sum(o.items), 0) FROM service.mint_orders AS o
                  WHERE o.collection = a.collection AND o.phase = a.phase AND o.script = a.script AND o.standing = 'allowed'))), '[]')
                FROM service.mint_allowances AS a JOIN service.mint_phases AS p USING (collection, phase)
               WHERE a.collection = c.id AND a.script = $2) AS allowances
           FROM service.mint_collections AS c WHERE c.id = $1 AND c.state IN ('approved', 'closed')`,
    values: [collection, Buffer.from(script), client, network],
  });
  const [row] = rows;
  if (row === undefined) return null;
  return {
    state: row.state,
    price: BigInt(row.price),
    creatorAddress: row.creator_address,
    isInRunes: row.in_runes,
    totalCount: row.total_count,
    taken: row.taken,
    unpaid: row.unpaid,
    ofClient: row.of_client,
    ofNetwork: row.of_network,
    phases: row.phases.map(phaseOf),
    allowances: row.allowances,
  };
}

interface StoredPhase extends Omit<Phase, 'price' | 'startsAt' | 'endsAt'> {
  readonly price: string | null;
  readonly startsAt: string | null;
  readonly endsAt: string | null;
}

const phaseOf = ({ price, startsAt, endsAt, ...phase }: StoredPhase): Phase => ({
  ...phase,
  price: price === null ? null : BigInt(price),
  startsAt: startsAt === null ? null : new Date(startsAt),
  endsAt: endsAt === null ? null : new Date(endsAt),
});

function refusalOf(state: SaleState, request: HoldRequest): RefusedHold | null {
  if (state.state === 'closed') return { kind: 'closed', reason: saleClosed };
  if (state.isInRunes) return paidInRunes;
  const beyond = beyondSupply(request.items, state.totalCount);
  if (beyond !== null) return { kind: 'closed', reason: beyond };
  const unpaid = {
    ofClient: state.ofClient,
    ofNetwork: state.ofNetwork,
    ofCollection: state.unpaid,
  };
  const unsold = state.totalCount - state.taken + state.unpaid;
  const count = countOf(request.items);
  // a collection without room says so: bounds are about what there is
  if (state.totalCount - state.taken < count) return null;
  const problem = holdProblem(count, unpaid, unsold, request.bounds);
  return problem === null ? null : { kind: 'bounds', reason: problem };
}

interface Chosen {
  readonly phase: Phase;
  readonly price: bigint;
  readonly creatorAddress: string | null;
}

/** Takes the items, counts them, and notes the order: one statement, which does all of it or nothing. */
async function takeItems(
  tx: pg.ClientBase,
  { orderId, collection, items, script, client, now }: HoldRequest,
  { phase, price, creatorAddress }: Chosen,
): Promise<HeldItems | RefusedHold> {
  const isNamed = items.kind === 'named';
  const count = countOf(items);
  const { rows } = await tx.query<HeldItem>({
    name: isNamed ? 'take named mint items' : 'take drawn mint items',
    text: `WITH free AS (
        SELECT item, row_number() OVER () - 1 AS place FROM (${isNamed ? namedItems : drawnItems}) AS found
      ), enough AS (
        SELECT FROM free HAVING count(*) = $3
      ), taken AS (
        UPDATE service.mint_items AS m SET order_id = $4, order_place = free.place
          FROM free WHERE m.collection = $1 AND m.item = free.item AND EXISTS (SELECT FROM enough)
        RETURNING m.item, m.file, m.order_place
      ), counted AS (
        UPDATE service.mint_collections SET taken = taken + $3, unpaid = unpaid + $3
         WHERE id = $1 AND EXISTS (SELECT FROM enough)
      ), counted_phase AS (
        UPDATE service.mint_phases SET taken = taken + $3
         WHERE collection = $1 AND phase = $5 AND EXISTS (SELECT FROM enough)
      ), noted AS (
        INSERT INTO service.mint_orders
          (order_id, collection, phase, items, numbers, is_requested, script, price, creator_address, client, standing, held_until)
        SELECT $4, $1, $5, $3, (SELECT array_agg(item ORDER BY place) FROM free), ${isNamed}, $6, $7, $8, $9, 'making', $10
          FROM enough
      )
      SELECT t.item, ${heldFile}
        FROM taken AS t JOIN service.mint_files AS f ON f.collection = $1 AND f.place = t.file
       ORDER BY t.order_place`,
    values: [
      collection,
      isNamed ? items.numbers : count,
      count,
      orderId,
      phase.phase,
      Buffer.from(script),
      price,
      price === 0n ? null : creatorAddress,
      client,
      new Date(now.getTime() + makingMs),
    ],
  });
  if (rows.length !== count)
    return {
      kind: 'taken',
      reason: isNamed ? itemsTaken : `The collection has fewer than ${count} items left.`,
    };
  return {
    kind: 'held',
    phase: phase.phase,
    price,
    creatorAddress: price === 0n ? null : creatorAddress,
    items: rows,
  };
}

const drawnItems = `SELECT item FROM service.mint_items WHERE collection = $1 AND order_id IS NULL ORDER BY draw LIMIT $2::integer`;
const namedItems = `SELECT m.item FROM unnest($2::integer[]) WITH ORDINALITY AS asked(item, place)
  JOIN service.mint_items AS m ON m.collection = $1 AND m.item = asked.item AND m.order_id IS NULL ORDER BY asked.place`;

/** Frees what orders had that were not stored in time. They are rare: a process died while it made one. */
async function freeAbandoned(tx: pg.ClientBase, collection: string, now: Date): Promise<void> {
  const { rows } = await tx.query<{ order_id: string }>({
    name: 'abandoned mint orders',
    text: `SELECT order_id FROM service.mint_orders WHERE collection = $1 AND standing = 'making' AND held_until < $2 FOR UPDATE`,
    values: [collection, now],
  });
  for (const { order_id: orderId } of rows) await releaseItems(tx, orderId);
}

/**
 * The order of a hold is stored, in this transaction. False: the hold was over, and its items are free again.
 */
export async function confirmHold(tx: pg.ClientBase, orderId: string): Promise<boolean> {
  const { rowCount } = await tx.query({
    name: 'confirm mint hold',
    text: `UPDATE service.mint_orders SET standing = 'unpaid', held_until = NULL WHERE order_id = $1 AND standing = 'making'`,
    values: [orderId],
  });
  return rowCount === 1;
}

/** Gives items back whose order is not made after all. */
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

/** Locks the collection of an order: whatever changes who has its items does that first. */
export async function lockCollectionOf(tx: pg.ClientBase, orderId: string): Promise<void> {
  await tx.query(
    `SELECT FROM service.mint_collections WHERE id = (SELECT collection FROM service.mint_orders WHERE order_id = $1)
        FOR NO KEY UPDATE`,
    [orderId],
  );
}

/** Frees the items of an order and takes them from the counts. Its collection must be locked. */
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
