import assert from 'node:assert/strict';
import type pg from 'pg';
import { failpoint } from '#kernel/process/failpoint.ts';
import { isFree } from './free-items.ts';
import { lockCollectionOf, releaseItems } from './holds.store.ts';

/**
 * State of the items of an order:
 * - `making`, `unpaid`: the order has its items for a limited time.
 * - `allowed`: the items are paid for.
 * - `refused`: the payment was beyond the allowance of its address.
 * - `late`: the payment waited too long for a block.
 * - `released`: the order has ended.
 *
 * In the last three states the order has no items. Only a `released` order may get its items again.
 */
export type SoldStanding = 'making' | 'unpaid' | 'allowed' | 'refused' | 'late' | 'released';

async function readStanding(client: pg.ClientBase, orderId: string): Promise<SoldStanding> {
  const { rows } = await client.query<{ standing: SoldStanding }>({
    name: 'read sold standing',
    text: 'SELECT standing FROM service.mint_orders WHERE order_id = $1',
    values: [orderId],
  });
  assert(rows[0] !== undefined, `order ${orderId} is for a collection`);
  return rows[0].standing;
}

interface KeepTerms {
  /** State of an order after it frees its items. */
  readonly without?: 'late' | 'released';
  /**
   * Whether the bound of unpaid items applies. If true, an order gets its items again only if unpaid orders then have
   * at most half of the unsold items.
   */
  readonly isBounded?: boolean;
}

/**
 * Frees the items of an order that no longer needs them. If the order needs its items again and all are still free,
 * assigns them to it again. This happens because a payment that was made in time may become known late. Returns the new
 * state.
 */
export async function keepItems(
  tx: pg.ClientBase,
  orderId: string,
  isNeeding: boolean,
  { without = 'released', isBounded = true }: KeepTerms = {},
): Promise<SoldStanding> {
  const standing = await readStanding(tx, orderId);
  if (standing === 'refused' || standing === 'late') return standing;
  if ((standing !== 'released') === isNeeding) return standing;
  await lockCollectionOf(tx, orderId);
  if (isNeeding) return (await takeAgain(tx, orderId, isBounded)) ? 'unpaid' : 'released';
  await releaseItems(tx, orderId, without);
  failpoint('items-released');
  return without;
}

/**
 * Returns the part of an allowance that a paid order used. It is called when a reorganisation removed the payment. The
 * order keeps its items, and is decided again later. The client of a paid order was deleted, so the order gets a client
 * name of its own, and its unpaid items do not count for any other client.
 */
export async function undecideItems(tx: pg.ClientBase, orderId: string): Promise<void> {
  await lockCollectionOf(tx, orderId);
  await tx.query(
    `WITH undecided AS (
       UPDATE service.mint_orders SET standing = 'unpaid', client = 'order ' || order_id
        WHERE order_id = $1 AND standing = 'allowed' RETURNING collection, items
     )
     UPDATE service.mint_collections AS c SET unpaid = unpaid + u.items FROM undecided AS u WHERE c.id = u.collection`,
    [orderId],
  );
}

/**
 * Assigns the items of a released order to it again. Returns false if one of the items belongs to another order, if the
 * phase has too few items left, or if unpaid orders would have too many items.
 */
async function takeAgain(tx: pg.ClientBase, orderId: string, isBounded: boolean): Promise<boolean> {
  const { rowCount } = await tx.query(
    `WITH wanted AS (
       SELECT o.order_id, o.collection, o.phase, o.items, o.numbers
         FROM service.mint_orders AS o JOIN service.mint_phases AS p USING (collection, phase)
         JOIN service.mint_collections AS c ON c.id = o.collection
        WHERE o.order_id = $1 AND o.standing = 'released'
          -- as unpaidMost
          AND (NOT $2 OR c.unpaid + o.items <= greatest(1, (c.total_count - c.taken + c.unpaid) / 2)) AND (p.items IS NULL OR p.taken + o.items <= p.items)
          AND o.items = (SELECT count(*) FROM service.mint_items AS m
                          WHERE m.collection = o.collection AND m.item = ANY(o.numbers) AND ${isFree('m')})
     ), taken AS (
       UPDATE service.mint_items AS m SET order_id = w.order_id, order_place = array_position(w.numbers, m.item) - 1
         FROM wanted AS w WHERE m.collection = w.collection AND m.item = ANY(w.numbers)
     ), counted AS (
       UPDATE service.mint_collections AS c SET taken = taken + w.items, unpaid = unpaid + w.items
         FROM wanted AS w WHERE c.id = w.collection
     ), counted_phase AS (
       UPDATE service.mint_phases AS p SET taken = taken + w.items
         FROM wanted AS w WHERE p.collection = w.collection AND p.phase = w.phase
     )
     -- its client was forgotten: it counts for no one else
     UPDATE service.mint_orders AS o SET standing = 'unpaid', client = 'order ' || o.order_id
       FROM wanted AS w WHERE o.order_id = w.order_id`,
    [orderId, isBounded],
  );
  return rowCount === 1;
}

/** Orders of one address that compete for the allowance of this address in a listed phase. */
export interface Contenders {
  /**
   * Number of items that the address may still pay for in this phase. Null if only the phase's own items limit the
   * number.
   */
  readonly left: number | null;
  /** Number of items of the order itself. */
  readonly items: number;
  /** The other orders that have items and are not decided yet. */
  readonly others: readonly { readonly orderId: string; readonly items: number }[];
}

/**
 * Locks the collection of an order whose payment has enough confirmations, and reads which other orders compete for the
 * allowance of its address. Returns null if the order is decided already.
 */
export async function lockContenders(tx: pg.ClientBase, orderId: string): Promise<Contenders | null> {
  await lockCollectionOf(tx, orderId);
  const { rows } = await tx.query<{
    is_public: boolean;
    listed: boolean;
    allowance: number | null;
    allowed: number;
    items: number;
    others: readonly { orderId: string; items: number }[];
  }>(
    `SELECT p.is_public, a.script IS NOT NULL AS listed, a.items AS allowance, o.items,
       (SELECT coalesce(sum(of.items), 0)::integer FROM service.mint_orders AS of
         WHERE of.collection = o.collection AND of.phase = o.phase AND of.script = o.script AND of.standing = 'allowed') AS allowed,
       (SELECT coalesce(jsonb_agg(jsonb_build_object('orderId', of.order_id, 'items', of.items)), '[]') FROM service.mint_orders AS of
         WHERE of.collection = o.collection AND of.phase = o.phase AND of.script = o.script AND of.standing = 'unpaid'
           AND of.order_id <> o.order_id) AS others
     FROM service.mint_orders AS o JOIN service.mint_phases AS p USING (collection, phase)
     LEFT JOIN service.mint_allowances AS a USING (collection, phase, script)
     WHERE o.order_id = $1 AND o.standing = 'unpaid'`,
    [orderId],
  );
  const [row] = rows;
  if (row === undefined) return null;
  const { is_public: isPublic, listed, allowance, allowed, items, others } = row;
  if (isPublic || (listed && allowance === null)) return { left: null, items, others: [] };
  // an address that was removed from the list meanwhile may not buy more items
  return { left: Math.max(0, (allowance ?? 0) - allowed), items, others };
}

/** Stores the decision about a paid order: `allowed` keeps its items for ever, `refused` frees its items. */
export async function decideItems(
  tx: pg.ClientBase,
  orderId: string,
  standing: 'allowed' | 'refused',
): Promise<void> {
  if (standing === 'refused') await releaseItems(tx, orderId, standing);
  else await allowItems(tx, orderId);
  failpoint('items-decided');
}

async function allowItems(tx: pg.ClientBase, orderId: string): Promise<void> {
  await tx.query(
    `WITH decided AS (
       UPDATE service.mint_orders SET standing = 'allowed', client = NULL
        WHERE order_id = $1 AND standing = 'unpaid' RETURNING collection, items
     )
     UPDATE service.mint_collections AS c SET unpaid = unpaid - d.items FROM decided AS d WHERE c.id = d.collection`,
    [orderId],
  );
}
