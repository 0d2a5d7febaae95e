import type pg from 'pg';
import { readPhases } from '#collections/collection/phases.store.ts';
import {
  type RunePrice,
  type RunePriceRow,
  runePriceColumn,
  runePriceOf,
} from '#collections/collection/rune-price.ts';
import type { Allowance, Phase } from './choose-phase.ts';
import { isFree } from './free-items.ts';

/** A collection that is or was for sale. */
export interface SaleState {
  readonly state: 'approved' | 'closed';
  /** Price of an item in sats, for phases without a price of their own. */
  readonly price: bigint;
  readonly creatorAddress: string | null;
  readonly isInRunes: boolean;
  /**
   * The price of an item in a rune. Null if items are sold for sats. If `isInRunes` is true and this is null, items
   * cannot be sold, because the price has no receiver.
   */
  readonly runePrice: RunePrice | null;
  readonly totalCount: number;
  /** Number of items that belong to orders. `unpaid` is how many of them are not paid for. */
  readonly taken: number;
  readonly unpaid: number;
  /** The phases in the creator's order. */
  readonly phases: readonly Phase[];
}

/** The sale of an approved or closed collection. Returns null if there is no such collection. */
export async function readSale(tx: pg.ClientBase, collection: string): Promise<SaleState | null> {
  const { rows } = await tx.query<{
    state: 'approved' | 'closed';
    price: number;
    creator_address: string | null;
    in_runes: boolean;
    rune_price: RunePriceRow | null;
    total_count: number;
    taken: number;
    unpaid: number;
  }>({
    name: 'read mint sale',
    text: `SELECT state, price, creator_address, alt_prices IS NOT NULL AS in_runes, total_count, taken, unpaid,
                  ${runePriceColumn}
             FROM service.mint_collections AS c WHERE id = $1 AND state IN ('approved', 'closed')`,
    values: [collection],
  });
  const [row] = rows;
  if (row === undefined) return null;
  const { state, taken, unpaid } = row;
  return {
    state,
    price: BigInt(row.price),
    creatorAddress: row.creator_address,
    isInRunes: row.in_runes,
    runePrice: runePriceOf(row.rune_price),
    totalCount: row.total_count,
    taken,
    unpaid,
    phases: await readPhases(tx, collection),
  };
}

/** The allowances of each of these addresses in the phases of a collection, in the order of the scripts. */
export async function readAllowancesOf(
  tx: pg.ClientBase,
  collection: string,
  scripts: readonly Uint8Array[],
): Promise<readonly (readonly Allowance[])[]> {
  const { rows } = await tx.query<Allowance & { place: number }>({
    name: 'read mint allowances of scripts',
    text: `SELECT asked.place::integer, a.phase, a.items,
             (SELECT coalesce(sum(o.items), 0)::integer FROM service.mint_orders AS o
               WHERE o.collection = a.collection AND o.phase = a.phase AND o.script = a.script
                 AND o.standing = 'allowed') AS paid
           FROM unnest($2::bytea[]) WITH ORDINALITY AS asked(script, place)
           JOIN service.mint_allowances AS a ON a.collection = $1 AND a.script = asked.script`,
    values: [collection, scripts.map((script) => Buffer.from(script))],
  });
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return scripts.map((_of, nth) =>
    (byPlace.get(nth + 1) ?? []).map(({ place: _place, ...allowance }) => allowance),
  );
}

/**
 * The name of a client, and the part of that name that all clients of its network share
 * (src/kernel/concurrency/client-network.ts).
 */
export interface NetworkClient {
  readonly client: string;
  readonly network: string;
}

/** Number of unpaid items of each of these clients, and of each client's network, in orders of all collections. */
export async function readUnpaidOf(
  tx: pg.ClientBase,
  clients: readonly NetworkClient[],
): Promise<readonly { readonly ofClient: number; readonly ofNetwork: number }[]> {
  if (clients.length === 0) return [];
  const { rows } = await tx.query<{ of_client: number; of_network: number }>({
    name: 'read unpaid mint items of clients',
    text: `SELECT
             (SELECT coalesce(sum(items), 0)::integer FROM service.mint_orders WHERE client = asked.client) AS of_client,
             (SELECT coalesce(sum(items), 0)::integer FROM service.mint_orders
               WHERE client >= asked.network AND client < asked.network || chr(1114111)) AS of_network
           FROM unnest($1::text[], $2::text[]) WITH ORDINALITY AS asked(client, network, place) ORDER BY place`,
    values: [clients.map(({ client }) => client), clients.map(({ network }) => network)],
  });
  return rows.map(({ of_client: ofClient, of_network: ofNetwork }) => ({ ofClient, ofNetwork }));
}

/** Selects the numbers of items that do not belong to an order. */
export async function readFree(
  tx: pg.ClientBase,
  collection: string,
  numbers: readonly number[],
): Promise<ReadonlySet<number>> {
  if (numbers.length === 0) return new Set();
  const { rows } = await tx.query<{ item: number }>({
    name: 'read free mint items',
    text: `SELECT m.item FROM service.mint_items AS m
            WHERE m.collection = $1 AND m.item = ANY($2::integer[]) AND ${isFree('m')}`,
    values: [collection, numbers],
  });
  return new Set(rows.map(({ item }) => item));
}
