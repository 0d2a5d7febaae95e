import type pg from 'pg';
import type { AltPrices } from '#collections/reading/read-alt-prices.ts';
import type { ShownTexts } from '#collections/reading/read-collection.ts';
import { type RunePrice, type RunePriceRow, runePriceColumn, runePriceOf } from './rune-price.ts';

export const collectionStates = ['pending', 'approved', 'refused', 'closed'] as const;
export type CollectionState = (typeof collectionStates)[number];

/** A collection for sale, without its phases and files. */
export interface Collection {
  readonly id: string;
  readonly state: CollectionState;
  readonly name: string;
  readonly totalCount: number;
  /** Price of an item in sats, if its phase has no price of its own. */
  readonly price: bigint;
  readonly creatorAddress: string | null;
  readonly altPrices: AltPrices | null;
  /**
   * The price in a rune. Null if the price is in sats, or is in a rune but has no receiver, as in collections of
   * earlier versions.
   */
  readonly runePrice: RunePrice | null;
  readonly shown: ShownTexts;
  /** sha256 of the key that may change the collection. Null if only the operator may change it. */
  readonly keyHash: Buffer | null;
  readonly createdAt: Date;
  /** Null if no operator has decided about the collection. */
  readonly decidedAt: Date | null;
  /** Why the collection was refused or closed. Null otherwise. */
  readonly reason: string | null;
  /** Number of items that belong to orders. */
  readonly taken: number;
  /** Number of items that belong to unpaid orders. */
  readonly unpaid: number;
}

/** A collection with a value that is computed by reading all of its files. */
export interface MeasuredCollection extends Collection {
  /**
   * Average number of bytes of a file. Files that are not stored yet count with the size that the creator sent. Null if
   * no size is known.
   */
  readonly averageBytes: number | null;
}

const columns = `c.id, c.state, c.name, c.total_count, c.price, c.creator_address, c.alt_prices, c.shown, c.key_hash,
  c.created_at, c.decided_at, c.reason, c.taken, c.unpaid, ${runePriceColumn}`;
const averageBytes = `(SELECT round(avg(coalesce(f.bytes, f.told_bytes)))::float8
  FROM service.mint_files AS f WHERE f.collection = c.id)`;

interface Row {
  readonly id: string;
  readonly state: CollectionState;
  readonly name: string;
  readonly total_count: number;
  readonly price: number;
  readonly creator_address: string | null;
  readonly alt_prices: AltPrices | null;
  readonly rune_price: RunePriceRow | null;
  readonly shown: ShownTexts;
  readonly key_hash: Buffer | null;
  readonly created_at: Date;
  readonly decided_at: Date | null;
  readonly reason: string | null;
  readonly taken: number;
  readonly unpaid: number;
}

function collectionOf(row: Row): Collection {
  const { id, state, name, shown, reason, taken, unpaid } = row;
  return {
    id,
    state,
    name,
    totalCount: row.total_count,
    price: BigInt(row.price),
    creatorAddress: row.creator_address,
    altPrices: row.alt_prices,
    runePrice: runePriceOf(row.rune_price),
    shown,
    keyHash: row.key_hash,
    createdAt: row.created_at,
    decidedAt: row.decided_at,
    reason,
    taken,
    unpaid,
  };
}

/** A collection in any state. Returns null if no collection has this id. */
export async function readCollection(
  client: pg.Pool | pg.ClientBase,
  id: string,
): Promise<Collection | null> {
  const { rows } = await client.query<Row>({
    name: 'read mint collection',
    text: `SELECT ${columns} FROM service.mint_collections AS c WHERE c.id = $1`,
    values: [id],
  });
  return rows[0] === undefined ? null : collectionOf(rows[0]);
}

/**
 * Average number of bytes of a file of a collection. Takes 40 ms for 100,000 files. Returns null if no size is known.
 */
export async function readAverageBytes(client: pg.Pool | pg.ClientBase, id: string): Promise<number | null> {
  const { rows } = await client.query<{ bytes: number | null }>(
    `SELECT ${averageBytes} AS bytes FROM service.mint_collections AS c WHERE c.id = $1`,
    [id],
  );
  return rows[0]?.bytes ?? null;
}

/** A page of a list of collections. */
export interface CollectionPage {
  /** Id of the collection after which the page begins. Null if it begins with the oldest collection. */
  readonly after: string | null;
  readonly limit: number;
}

/** Collections in a state, the oldest first. If `state` is null, collections in any state. */
export async function listCollections(
  client: pg.Pool | pg.ClientBase,
  state: CollectionState | null,
  { after, limit }: CollectionPage,
): Promise<readonly MeasuredCollection[]> {
  const { rows } = await client.query<Row & { bytes: number | null }>(
    `SELECT ${columns}, ${averageBytes} AS bytes FROM service.mint_collections AS c
      WHERE ($1::text IS NULL OR c.state = $1) AND ($2::text IS NULL
              OR (c.created_at, c.id) > (SELECT f.created_at, f.id FROM service.mint_collections AS f WHERE f.id = $2))
      ORDER BY c.created_at, c.id LIMIT $3`,
    [state, after, limit],
  );
  return rows.map((row) => ({ ...collectionOf(row), averageBytes: row.bytes }));
}

/**
 * Locks and reads a collection. Until the transaction ends, nothing is sold and no phase changes. Returns null if no
 * collection has this id.
 */
export async function lockCollection(tx: pg.ClientBase, id: string): Promise<Collection | null> {
  await lockCollectionRow(tx, id);
  return readCollection(tx, id);
}

/** Locks a collection without reading it. Does nothing if no collection has this id. */
export async function lockCollectionRow(tx: pg.ClientBase, id: string): Promise<void> {
  await tx.query({
    name: 'lock mint collection',
    text: 'SELECT FROM service.mint_collections WHERE id = $1 FOR NO KEY UPDATE',
    values: [id],
  });
}
