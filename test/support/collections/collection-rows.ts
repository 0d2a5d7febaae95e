import assert from 'node:assert/strict';
import { createHash, randomUUID } from 'node:crypto';
import type pg from 'pg';
import { insertItems } from '#collections/collection/items.store.ts';
import type { RunePrice } from '#collections/collection/rune-price.ts';
import type { HeldItems, HoldRequest, RefusedHold } from '#collections/selling/hold-request.ts';
import { holdItems } from '#collections/selling/holds.store.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { openSoldCollection } from '#market/collections/sold-collection.store.ts';

export interface CollectionSpec {
  readonly id: string;
  readonly items: number;
  readonly price?: number;
  readonly creatorAddress?: string;
  readonly phases?: readonly PhaseSpec[];
  /** Text before the number in each item's file. Default: the text is only the number. */
  readonly prefix?: string;
  /** The price of an item in a rune, and the account that receives it. */
  readonly runePrice?: RunePrice;
  /** The stored file of each item. Default: small texts. */
  readonly files?: readonly FileSpec[];
}

export interface FileSpec {
  readonly sha256: Uint8Array;
  readonly bytes: number;
  readonly mediaType: string;
}

export interface PhaseSpec {
  readonly phase: string;
  readonly items?: number;
  readonly isPublic?: boolean;
  readonly price?: number;
  readonly startsAt?: Date;
  readonly endsAt?: Date;
  /** Maximum number of items by the name of an address; `null` if there is no bound. */
  readonly allowances?: Readonly<Record<string, number | null>>;
  /** Listed scripts, and the maximum number of items of each; `null` if there is no bound. */
  readonly listed?: readonly { readonly script: Uint8Array; readonly items: number | null }[];
}

export const scriptOf = (name: string): Buffer =>
  Buffer.concat([Buffer.of(0x51, 0x20), createHash('sha256').update(name).digest()]);

/** Inserts an approved collection. Items are drawn in the order of their numbers. */
export async function insertCollection(pool: pg.Pool, spec: CollectionSpec): Promise<void> {
  const {
    id,
    items,
    price = 0,
    creatorAddress = null,
    phases = [{ phase: 'public' }],
    prefix = '',
    files,
    runePrice,
  } = spec;
  await pool.query(
    `INSERT INTO service.mint_collections (id, state, name, total_count, price, creator_address, creator_script, shown, decided_at)
     VALUES ($1, 'approved', $1, $2, $3, $4, $5, '{"description": "A test", "creator": "Ada"}', now())`,
    [id, items, price, creatorAddress, creatorAddress === null ? null : scriptOf(creatorAddress)],
  );
  if (runePrice !== undefined) await insertRunePrice(pool, id, runePrice);
  await withTransaction(pool, (tx) =>
    openSoldCollection(tx, {
      slug: id,
      name: id,
      description: null,
      website: null,
      twitter: null,
      discord: null,
    }),
  );
  await pool.query(
    `INSERT INTO service.mint_files (collection, place, name, sha256, bytes, media_type)
     SELECT $1, n, n || '.txt', sha256(convert_to($3 || n::text, 'UTF8')), length($3 || n::text), 'text/plain;charset=utf-8'
       FROM generate_series(0, $2 - 1) AS n`,
    [id, items, prefix],
  );
  if (files !== undefined) await nameFiles(pool, id, files);
  await insertItems(
    pool,
    id,
    Array.from({ length: items }, (_, file) => ({ file, draw: file })),
  );
  for (const [place, phase] of phases.entries()) await insertPhase(pool, id, place, phase);
}

async function insertRunePrice(pool: pg.Pool, id: string, price: RunePrice): Promise<void> {
  const { account, etching, rune, name, divisibility, amount } = price;
  await pool.query('UPDATE service.mint_collections SET alt_prices = $2 WHERE id = $1', [
    id,
    JSON.stringify({ rune: { amount: String(amount), token: name } }),
  ]);
  await pool.query(
    `INSERT INTO service.mint_rune_prices (collection, account, etching, rune, name, divisibility, amount)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, account, Buffer.from(etching), rune, name, divisibility, amount],
  );
}

/** Replaces the small texts by stored files. Must run before the script bytes of items are counted. */
async function nameFiles(pool: pg.Pool, id: string, files: readonly FileSpec[]): Promise<void> {
  const { rowCount } = await pool.query(
    `UPDATE service.mint_files AS f SET sha256 = given.sha256, bytes = given.bytes, media_type = given.media_type
       FROM unnest($2::bytea[], $3::integer[], $4::text[]) WITH ORDINALITY AS given(sha256, bytes, media_type, nth)
      WHERE f.collection = $1 AND f.place = given.nth - 1`,
    [
      id,
      files.map(({ sha256 }) => Buffer.from(sha256)),
      files.map(({ bytes }) => bytes),
      files.map(({ mediaType }) => mediaType),
    ],
  );
  assert(rowCount === files.length, `collection ${id} has fewer items than files`);
}

async function insertPhase(pool: pg.Pool, id: string, place: number, phase: PhaseSpec): Promise<void> {
  await pool.query(
    `INSERT INTO service.mint_phases (collection, phase, place, items, is_public, price, starts_at, ends_at)
       VALUES ($1, $2, $3, $4, $5, $6, $7, $8)`,
    [
      id,
      phase.phase,
      place,
      phase.items ?? null,
      phase.isPublic ?? (phase.allowances === undefined && phase.listed === undefined),
      phase.price ?? null,
      phase.startsAt ?? null,
      phase.endsAt ?? null,
    ],
  );
  const named = Object.entries(phase.allowances ?? {}).map(([name, allowed]) => ({
    script: scriptOf(name),
    items: allowed,
  }));
  for (const { script, items } of [...named, ...(phase.listed ?? [])])
    await pool.query(
      'INSERT INTO service.mint_allowances (collection, phase, script, items) VALUES ($1, $2, $3, $4)',
      [id, phase.phase, Buffer.from(script), items],
    );
}

/** A request of a new client that holds one drawn item, with the given differences. */
export function holdRequest(collection: string, given: Partial<HoldRequest> = {}): HoldRequest {
  return {
    orderId: randomUUID(),
    collection,
    items: { kind: 'drawn', count: 1 },
    script: scriptOf('buyer'),
    client: `client ${randomUUID()}`,
    bounds: { client: 10, network: 100 },
    now: new Date(),
    ...given,
  };
}

/** Holds items for a single request. */
export async function holdOne(pool: pg.Pool, request: HoldRequest): Promise<HeldItems | RefusedHold> {
  const [held] = await holdItems(pool, [request]);
  assert(held !== undefined && held.kind !== 'failed', 'a request is answered');
  return held;
}

/** Throws unless the counts of a collection equal the counts of its orders and items. */
export async function requireExactCounts(pool: pg.Pool, id: string): Promise<void> {
  const { rows } = await pool.query(
    `SELECT c.taken, c.unpaid, counted.*
       FROM service.mint_collections AS c CROSS JOIN LATERAL (
         SELECT coalesce(sum(items) FILTER (WHERE standing IN ('making', 'unpaid', 'allowed')), 0)::integer AS held,
                coalesce(sum(items) FILTER (WHERE standing IN ('making', 'unpaid')), 0)::integer AS waiting,
                (SELECT count(*)::integer FROM service.mint_items WHERE collection = $1 AND order_id IS NOT NULL) AS rows,
                (SELECT coalesce(sum(taken), 0)::integer FROM service.mint_phases WHERE collection = $1) AS phases
           FROM service.mint_orders WHERE collection = $1) AS counted
      WHERE c.id = $1 AND (c.taken, c.unpaid, c.taken, c.taken) IS DISTINCT FROM (held, waiting, rows, phases)`,
    [id],
  );
  if (rows.length > 0) throw new Error(`counts of ${id} differ: ${JSON.stringify(rows[0])}`);
}
