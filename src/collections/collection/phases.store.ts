import type pg from 'pg';
import type { NamedPhase } from '#collections/reading/name-phases.ts';
import type { Phase } from '#collections/selling/choose-phase.ts';
import { collectionBounds } from './collection-bounds.ts';

/** A phase with the number of addresses that it lists. */
export interface ListedPhase extends Phase {
  readonly allowances: number;
}

/** The phases of a collection, in the creator's order. */
export async function readPhases(
  client: pg.Pool | pg.ClientBase,
  collection: string,
): Promise<readonly Phase[]> {
  const { rows } = await client.query<{
    phase: string;
    place: number;
    items: number | null;
    taken: number;
    is_public: boolean;
    price: number | null;
    starts_at: Date | null;
    ends_at: Date | null;
  }>({
    name: 'read mint phases',
    text: `SELECT phase, place, items, taken, is_public, price, starts_at, ends_at
             FROM service.mint_phases WHERE collection = $1 ORDER BY place`,
    values: [collection],
  });
  return rows.map(({ phase, place, items, taken, price, ...row }) => ({
    phase,
    place,
    items,
    taken,
    isPublic: row.is_public,
    price: price === null ? null : BigInt(price),
    startsAt: row.starts_at,
    endsAt: row.ends_at,
  }));
}

/** Phases with the number of addresses of each list. Counting 100,000 addresses takes 10 ms. */
export async function readListedPhases(
  client: pg.Pool | pg.ClientBase,
  collection: string,
): Promise<readonly ListedPhase[]> {
  const phases = await readPhases(client, collection);
  const { rows } = await client.query<{ phase: string; listed: number }>({
    name: 'count mint allowances',
    text: `SELECT phase, count(*)::integer AS listed FROM service.mint_allowances WHERE collection = $1 GROUP BY phase`,
    values: [collection],
  });
  const listed = new Map(rows.map((row) => [row.phase, row.listed]));
  return phases.map((phase) => ({ ...phase, allowances: listed.get(phase.phase) ?? 0 }));
}

/** The phases of a collection from which orders have bought. The rows of these phases must not be deleted. */
export async function readOrderedPhases(tx: pg.ClientBase, collection: string): Promise<ReadonlySet<string>> {
  const { rows } = await tx.query<{ phase: string }>(
    `SELECT p.phase FROM service.mint_phases AS p WHERE p.collection = $1
        AND EXISTS (SELECT FROM service.mint_orders AS o WHERE o.collection = p.collection AND o.phase = p.phase)`,
    [collection],
  );
  return new Set(rows.map(({ phase }) => phase));
}

/**
 * Replaces the phases of a collection and their lists of addresses. The row of the collection must be locked, and no
 * order may have bought from a phase that is removed.
 */
export async function replacePhases(
  tx: pg.ClientBase,
  collection: string,
  phases: readonly NamedPhase[],
): Promise<void> {
  await tx.query('DELETE FROM service.mint_allowances WHERE collection = $1', [collection]);
  await tx.query('DELETE FROM service.mint_phases WHERE collection = $1 AND phase <> ALL($2)', [
    collection,
    phases.map(({ phase }) => phase),
  ]);
  // positions are unique, so all existing phases first move to positions above the maximum
  await tx.query('UPDATE service.mint_phases SET place = place + $2 WHERE collection = $1', [
    collection,
    collectionBounds.phases,
  ]);
  await insertPhases(tx, collection, phases);
}

/**
 * Inserts phases with their addresses. An existing phase gets the new terms, and keeps its number of items that belong
 * to orders.
 */
export async function insertPhases(
  tx: pg.ClientBase,
  collection: string,
  phases: readonly NamedPhase[],
): Promise<void> {
  await tx.query(
    `INSERT INTO service.mint_phases (collection, phase, place, items, is_public, price, starts_at, ends_at)
     SELECT $1, phase, place - 1, items, is_public, price, starts_at, ends_at
       FROM unnest($2::text[], $3::integer[], $4::boolean[], $5::bigint[], $6::timestamptz[], $7::timestamptz[])
            WITH ORDINALITY AS given(phase, items, is_public, price, starts_at, ends_at, place)
     ON CONFLICT (collection, phase) DO UPDATE
        SET place = excluded.place, items = excluded.items, is_public = excluded.is_public, price = excluded.price,
            starts_at = excluded.starts_at, ends_at = excluded.ends_at`,
    [
      collection,
      phases.map(({ phase }) => phase),
      phases.map(({ items }) => items),
      phases.map(({ isPublic }) => isPublic),
      phases.map(({ price }) => price),
      phases.map(({ startsAt }) => startsAt),
      phases.map(({ endsAt }) => endsAt),
    ],
  );
  for (const phase of phases) await insertAllowances(tx, collection, phase);
}

/** Maximum number of addresses in one statement. Encoding this number blocks the event loop for some milliseconds. */
const addressesAtOnce = 2_000;

async function insertAllowances(
  tx: pg.ClientBase,
  collection: string,
  { phase, allowances }: NamedPhase,
): Promise<void> {
  for (let at = 0; at < allowances.length; at += addressesAtOnce) {
    const some = allowances.slice(at, at + addressesAtOnce);
    await tx.query({
      name: 'insert mint allowances',
      text: `INSERT INTO service.mint_allowances (collection, phase, script, items)
        SELECT $1, $2, script, items FROM unnest($3::bytea[], $4::integer[]) AS given(script, items)`,
      values: [
        collection,
        phase,
        some.map(({ script }) => Buffer.from(script)),
        some.map(({ items }) => items),
      ],
    });
  }
}

/** The items that a phase allows one address to buy. */
export interface Allocation {
  readonly phase: string;
  readonly isPublic: boolean;
  /** Whether the phase lists the address. */
  readonly isListed: boolean;
  /**
   * Maximum number of items that the address may pay for. Null if only the phase's own items limit the number, or the
   * address is not listed.
   */
  readonly items: number | null;
  /** Number of items that the address has paid for. */
  readonly paid: number;
  /** The orders in which the address has paid for items, with their numbers of items. */
  readonly orders: readonly { readonly orderId: string; readonly items: number }[];
}

/**
 * The items that each phase of an approved or closed collection allows an address to buy. Returns null if there is no
 * such collection.
 */
export async function readAllocations(
  client: pg.Pool | pg.ClientBase,
  collection: string,
  script: Uint8Array,
): Promise<readonly Allocation[] | null> {
  const { rows } = await client.query<{
    phase: string | null;
    is_public: boolean;
    is_listed: boolean;
    items: number | null;
    paid: number;
    orders: Allocation['orders'];
  }>({
    name: 'read mint allocations',
    text: `SELECT p.phase, p.is_public, a.script IS NOT NULL AS is_listed, a.items, bought.paid, bought.orders
             FROM service.mint_collections AS c
             LEFT JOIN service.mint_phases AS p ON p.collection = c.id
             LEFT JOIN LATERAL (
               SELECT l.script, l.items FROM service.mint_allowances AS l
                WHERE l.collection = c.id AND l.phase = p.phase AND l.script = $2 LIMIT 1) AS a ON true
             CROSS JOIN LATERAL (
               SELECT coalesce(sum(o.items), 0)::integer AS paid, coalesce(jsonb_agg(jsonb_build_object('orderId', o.order_id, 'items', o.items)), '[]') AS orders
                 FROM service.mint_orders AS o
                WHERE o.collection = c.id AND o.phase = p.phase AND o.script = $2 AND o.standing = 'allowed') AS bought
            WHERE c.id = $1 AND c.state IN ('approved', 'closed') ORDER BY p.place`,
    values: [collection, Buffer.from(script)],
  });
  if (rows.length === 0) return null;
  return rows.flatMap(({ phase, items, paid, orders, ...row }) =>
    phase === null ? [] : [{ phase, isPublic: row.is_public, isListed: row.is_listed, items, paid, orders }],
  );
}
