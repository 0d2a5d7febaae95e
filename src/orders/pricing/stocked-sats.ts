import type pg from 'pg';
import { knowsSatRanges } from '#chain/derived/known-ranges.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Inventory } from '#inventory/inventory.ts';
import { contentBytes, postageMost, standingOf } from '#inventory/inventory-standing.ts';
import { defaultBaseFees, type InventoryType } from '#inventory/inventory-types.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { postageOf } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { rareSatsFault, rareSatsFaults, readRareSats } from '#orders/reading/read-rare-sats.ts';
import type { Faulty } from '#orders/reading/request-values.ts';
import type { StockedSat } from '#orders/stock/reservations.store.ts';

/** The inventory, and the index that knows its sats. */
export interface Stock {
  /** Null: there is none. */
  readonly inventory: Inventory | null;
  /** Connections to the index. */
  readonly pool: pg.Pool;
}

/** An order as it is planned, and what its special sat costs beside the base fee, in sats. */
export interface SatPrice {
  readonly kind: 'sat-price';
  readonly terms: OrderTerms;
  readonly rareSatsFee: bigint;
}

/** Prices the sats that an order asks for; its terms name the place of an offered sat. Throws `orders_off`. */
export async function priceSats(
  stock: Stock,
  rareSats: string,
  terms: OrderTerms,
  asker: Asker,
): Promise<SatPrice | Faulty> {
  const read = readRareSats(rareSats);
  if (read.kind === 'faulty') return read;
  const { type } = read;
  if (type === null) return { kind: 'sat-price', terms, rareSatsFee: 0n };
  if (terms.type === 'bulk') return priceManaged(type, terms, stock.inventory);
  const faults = rareSatsFaults(type, terms, null);
  if (faults.length > 0) return { kind: 'faulty', faults };
  const stocked = await offerSat(stock, type, terms, asker);
  return stocked.kind === 'faulty'
    ? stocked
    : { kind: 'sat-price', terms: stocked.terms, rareSatsFee: stocked.fee };
}

/**
 * The price of managed inscriptions on special sats. Faulty if the type is sold out, or too small for one of the files.
 */
async function priceManaged(
  type: InventoryType,
  terms: OrderTerms,
  inventory: Inventory | null,
): Promise<SatPrice | Faulty> {
  const { files } = terms;
  const standing = inventory === null ? standingOf([], defaultBaseFees) : await inventory.standing();
  const { baseFee, count, maxSize } = standing[type];
  if (count < files.length)
    return rareSatsFault(
      `There are sats of type ${type} for ${count} inscriptions now, not for ${files.length}.`,
    );
  const tooLong = files.findIndex((file) => (bytesOf(file) ?? 0) > maxSize);
  if (tooLong !== -1)
    return rareSatsFault(
      `File ${tooLong + 1} is longer than the ${maxSize} bytes that sats of type ${type} take.`,
    );
  return { kind: 'sat-price', terms, rareSatsFee: BigInt(baseFee) };
}

/** An order of a sat of the inventory. */
export interface StockedOrder {
  readonly kind: 'stocked';
  /** The terms of the order, and the place of the sat in its output. */
  readonly terms: OrderTerms;
  readonly sat: StockedSat;
  /** Outputs of the inventory that orders of its type can have, and have. */
  readonly ofType: readonly Outpoint[];
  /** The price of the sat beside the base fee, in sats. */
  readonly fee: bigint;
}

/**
 * Offers a sat to an order that can have one, as it is there now: it is not reserved yet. Faulty if there is
 * none, or none for a file of this size. Throws `orders_off`.
 */
export async function offerSat(
  stock: Stock,
  type: InventoryType,
  terms: OrderTerms,
  asker: Asker,
): Promise<StockedOrder | Faulty> {
  const inventory = await openStock(stock, asker);
  const badSize = sizeFault(terms, type);
  if (badSize !== null) return badSize;
  const postage = postageOf(terms);
  const offer = await inventory.offer(type, Number(postage), asker);
  if (offer === null) {
    const why = postage === BigInt(postageMost) ? '' : ` with a postage of ${postage} sats`;
    return rareSatsFault(`rareSats: there is no sat of type ${type} now${why}.`);
  }
  const { output, keyIndex, place, sat, ofType } = offer;
  const { txid, vout, value, height, blockHash } = output;
  return {
    kind: 'stocked',
    terms: { ...terms, inventory: [{ value: BigInt(value), place: BigInt(place) }] },
    sat: { txid, vout, value, keyIndex, height, blockHash, place, sat },
    ofType,
    fee: BigInt(inventory.baseFee(type)),
  };
}

/** The inventory, if orders can have something of it. Throws `orders_off`. */
async function openStock({ inventory, pool }: Stock, { signal }: Asker): Promise<Inventory> {
  if (inventory === null || !(await inventory.hasAddresses()))
    throw notOffered('has no wallet with an inventory');
  if (!(await withSnapshot(pool, ({ client }) => knowsSatRanges(client), signal)))
    throw notOffered('has no index of sats (INDEX_SATS), or is still making it');
  return inventory;
}

/** No fault of the request: the operator changes it, or time does. */
const notOffered = (why: string): AppError =>
  new AppError('orders_off', `rareSats is not offered: this service ${why}`);

/** The fault of a file that is too short or too long for sats of a type; null if there is none. */
function sizeFault({ files }: OrderTerms, type: InventoryType): Faulty | null {
  const { least, most } = contentBytes;
  const sizes = files.map(bytesOf).filter((bytes) => bytes !== null);
  const bad = sizes.find((bytes) => bytes < least || bytes > most);
  if (bad === undefined) return null;
  return rareSatsFault(`Sats of type ${type} take files of ${least} to ${most} bytes, not of ${bad}.`);
}

/** Length of the content of a file; null: it has none. */
const bytesOf = ({ body }: OrderTerms['files'][number]): number | null =>
  typeof body === 'number' ? body : (body?.length ?? null);
