import type pg from 'pg';
import { choosePhase } from './choose-phase.ts';
import { isFree } from './free-items.ts';
import {
  beyondSupply,
  countOf,
  type HeldItem,
  type HeldItems,
  type HoldRequest,
  itemsTaken,
  saleClosed,
  unknownCollection,
  withoutRunePrice,
} from './hold-request.ts';
import { heldFile } from './holds.store.ts';
import { readAllowancesOf, readSale } from './sale.queries.ts';

/** The items that an order would get now, and the price of an item. */
export interface PricedItems extends Pick<HeldItems, 'runePrice'> {
  readonly kind: 'priced';
  /** Price of an item in sats, which the creator receives. */
  readonly price: bigint;
  readonly items: readonly HeldItem[];
}

export interface PricedRequest extends Pick<HoldRequest, 'collection' | 'items' | 'now'> {
  /** The script of the receiving address. Null if it is not known yet; phases with a list are then ignored. */
  readonly script: Uint8Array | null;
}

/**
 * The items of an order that is not created yet. Named items are exactly the requested items. For drawn items, the free
 * items with the longest scripts are returned, so their price is the maximum for the order. No items are held.
 */
export async function pricedItems(
  client: pg.ClientBase,
  request: PricedRequest,
): Promise<PricedItems | { readonly kind: 'unknown' | 'closed' | 'runes'; readonly reason: string }> {
  const { collection, items, now } = request;
  const state = await readSale(client, collection);
  if (state === null) return unknownCollection(collection);
  if (state.state === 'closed') return { kind: 'closed', reason: saleClosed };
  if (state.isInRunes && state.runePrice === null) return withoutRunePrice;
  const beyond = beyondSupply(items, state.totalCount);
  if (beyond !== null) return { kind: 'closed', reason: beyond };
  const count = countOf(items);
  const { price, phases } = state;
  const [allowances = []] =
    request.script === null ? [] : await readAllowancesOf(client, collection, [request.script]);
  const free = state.totalCount - state.taken;
  const chosen = choosePhase({ price, free, phases }, { count, allowances, now });
  if (chosen.kind === 'refused') return { kind: 'closed', reason: chosen.reason };
  const found = await readItems(client, collection, items);
  if (found.length !== count) return { kind: 'closed', reason: itemsTaken };
  return { kind: 'priced', price: chosen.price, runePrice: state.runePrice, items: found };
}

async function readItems(
  client: pg.ClientBase,
  collection: string,
  items: HoldRequest['items'],
): Promise<HeldItem[]> {
  const isNamed = items.kind === 'named';
  const { rows } = await client.query<HeldItem>(
    `SELECT m.item, ${heldFile}
       FROM ${isNamed ? 'unnest($2::integer[]) WITH ORDINALITY AS asked(item, place) JOIN service.mint_items AS m USING (item)' : 'service.mint_items AS m'}
       JOIN service.mint_files AS f ON f.collection = m.collection AND f.place = m.file
      WHERE m.collection = $1 AND ${isNamed ? isFree('m') : 'm.order_id IS NULL'}
      ORDER BY ${isNamed ? 'asked.place' : `m.script_bytes DESC, m.item LIMIT $2::integer`}`,
    [collection, isNamed ? items.numbers : items.count],
  );
  return rows;
}
