import type pg from 'pg';
import type { AltPrices } from '#collections/reading/read-alt-prices.ts';
import type { SentCollection } from '#collections/reading/read-collection.ts';
import { networkOfClient } from '#kernel/concurrency/client-network.ts';
import { advisoryLocks } from '#kernel/pg/advisory-lock.ts';
import { collectionBounds, undecidedBounds } from './collection-bounds.ts';
import { insertFiles } from './files.store.ts';
import { insertPhases } from './phases.store.ts';
import type { RunePrice } from './rune-price.ts';

/** A new collection. Its price in a rune was looked up in the index. */
export interface NewCollection extends Omit<SentCollection, 'runePrice'> {
  /** The price in a rune, in the shown form and in the charged form. Null if items are sold for sats. */
  readonly inRunes: { readonly shown: AltPrices; readonly price: RunePrice } | null;
}

/**
 * Result of an insert:
 * - `taken`: another collection has this id.
 * - `bounds`: the collection lists too many addresses for a creator without a key, or too many such collections wait
 *   for the operator.
 */
export type InsertedCollection =
  | { readonly kind: 'inserted'; readonly createdAt: Date }
  | { readonly kind: 'taken' }
  | { readonly kind: 'bounds'; readonly reason: string };

/**
 * Stores a new collection, which then waits for the decision of an operator.
 *
 * @param client the client name of a creator without a key, for limits; null if the creator has a key
 */
export async function insertCollection(
  tx: pg.ClientBase,
  collection: NewCollection,
  client: string | null,
): Promise<InsertedCollection> {
  if (client !== null) {
    const reason = longProblem(collection) ?? (await undecidedProblem(tx, client));
    if (reason !== null) return { kind: 'bounds', reason };
  }
  const { id, name, totalCount, price, creator, inRunes, shown, keyHash, files, phases } = collection;
  const { rows } = await tx.query<{ created_at: Date }>(
    `INSERT INTO service.mint_collections
       (id, name, total_count, price, creator_address, creator_script, alt_prices, shown, key_hash, client)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) ON CONFLICT (id) DO NOTHING RETURNING created_at`,
    [
      id,
      name,
      totalCount,
      price,
      creator?.address ?? null,
      creator === null ? null : Buffer.from(creator.script),
      inRunes === null ? null : JSON.stringify(inRunes.shown),
      JSON.stringify(shown),
      keyHash,
      client,
    ],
  );
  const [row] = rows;
  if (row === undefined) return { kind: 'taken' };
  await insertFiles(tx, id, files);
  await insertPhases(tx, id, phases);
  if (inRunes !== null) await insertRunePrice(tx, id, inRunes.price);
  return { kind: 'inserted', createdAt: row.created_at };
}

async function insertRunePrice(tx: pg.ClientBase, id: string, price: RunePrice): Promise<void> {
  const { account, etching, rune, name, divisibility, amount } = price;
  await tx.query(
    `INSERT INTO service.mint_rune_prices (collection, account, etching, rune, name, divisibility, amount)
     VALUES ($1, $2, $3, $4, $5, $6, $7)`,
    [id, account, Buffer.from(etching), rune, name, divisibility, amount],
  );
}

function longProblem({ phases }: Pick<NewCollection, 'phases'>): string | null {
  const listed = phases.reduce((sum, { allowances }) => sum + allowances.length, 0);
  const most = collectionBounds.strangersAllowances;
  return listed <= most
    ? null
    : `The collection lists ${listed} addresses, but without a key at most ${most} are allowed. Send a key.`;
}

/**
 * Returns why a client may not create another collection without a key, or null if the client may. Creations take a
 * lock, so they are counted one after another.
 */
async function undecidedProblem(tx: pg.ClientBase, client: string): Promise<string | null> {
  await tx.query('SELECT pg_advisory_xact_lock($1)', [advisoryLocks.undecidedCollections]);
  const { rows } = await tx.query<{ of_client: number; of_network: number; of_all: number }>(
    `SELECT count(*) FILTER (WHERE client = $1)::integer AS of_client,
            count(*) FILTER (WHERE starts_with(client, $2))::integer AS of_network, count(*)::integer AS of_all
       FROM service.mint_collections
      WHERE state = 'pending' AND client IS NOT NULL AND created_at > now() - make_interval(days => $3)`,
    [client, networkOfClient(client), undecidedBounds.days],
  );
  const { of_client: ofClient = 0, of_network: ofNetwork = 0, of_all: ofAll = 0 } = rows[0] ?? {};
  const again = 'Send a key, or wait until the operator has decided about these collections.';
  if (ofClient >= undecidedBounds.client)
    return `Your IP address has ${ofClient} collections that wait for the operator, and may have at most ${undecidedBounds.client}. ${again}`;
  if (ofNetwork >= undecidedBounds.network)
    return `Your network has ${ofNetwork} collections that wait for the operator, and may have at most ${undecidedBounds.network}. ${again}`;
  if (ofAll >= undecidedBounds.all)
    return `${ofAll} collections of creators without a key wait for the operator, which is the maximum. ${again}`;
  return null;
}

/** Deletes collections of creators without a key that no operator decided about in time. Returns their number. */
export async function deleteUndecided(client: pg.Pool | pg.ClientBase): Promise<number> {
  const { rowCount } = await client.query(
    `DELETE FROM service.mint_collections
      WHERE state = 'pending' AND client IS NOT NULL AND created_at < now() - make_interval(days => $1)`,
    [undecidedBounds.days],
  );
  return rowCount ?? 0;
}
