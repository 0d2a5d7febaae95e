import type pg from 'pg';
import { knowsSatRanges } from '#chain/derived/known-ranges.queries.ts';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { Inventory } from '#inventory/inventory.ts';
import { contentBytes, postageMost } from '#inventory/inventory-standing.ts';
import type { InventoryType } from '#inventory/inventory-types.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import { postageOf } from '#orders/inscribing/settled-terms.ts';
import { rareSatsFault, rareSatsFaults, readRareSats } from '#orders/reading/read-rare-sats.ts';
import { type ReservationBounds, reservationBounds } from '#orders/stock/reservation-bounds.ts';
import type { StockedSat } from '#orders/stock/reservations.store.ts';

/** The inventory, and the index that knows its sats. */
export interface Stock {
  /** Null: there is none. */
  readonly inventory: Inventory | null;
  /** Connections to the index. */
  readonly pool: pg.Pool;
  /**
   * Sats that unpaid orders of one client may have, where its key does not say (ORDER_RESERVED_MAX). Null: no
   * orders are taken here.
   */
  readonly reservedMost: number | null;
}

/** An order as it is planned, and the price of each of its special sats beside the base fee, in sats. */
export interface SatPrice {
  readonly kind: 'sat-price';
  readonly terms: OrderTerms;
  readonly rareSatsFee: bigint;
}

/**
 * Prices the sats that an order asks for, by the same offer that its creation reserves: its terms name the places
 * of the offered sats. Throws `orders_off`.
 */
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
  const faults = rareSatsFaults(type, terms, null);
  if (faults.length > 0) return { kind: 'faulty', faults };
  const stocked = await offerSats(stock, type, terms, asker);
  return stocked.kind === 'faulty'
    ? stocked
    : { kind: 'sat-price', terms: stocked.terms, rareSatsFee: stocked.fee };
}

/** An order of sats of the inventory. */
export interface StockedOrder {
  readonly kind: 'stocked';
  /** The terms of the order, and the places of the sats in their outputs. */
  readonly terms: OrderTerms;
  /** One a file, in their order. */
  readonly sats: readonly StockedSat[];
  /** Outputs of the inventory that orders of its type can have, and have. */
  readonly ofType: readonly Outpoint[];
  /** The price of each sat beside the base fee, in sats. */
  readonly fee: bigint;
}

/**
 * Offers a sat to each file of an order that can have some, as they are there now: they are not reserved yet. Faulty if
 * there are not enough, now or ever, or none for a file of its size. Throws `orders_off`.
 */
export async function offerSats(
  stock: Stock,
  type: InventoryType,
  terms: OrderTerms,
  asker: Asker,
): Promise<StockedOrder | Faulty> {
  const inventory = await openStock(stock, asker);
  const badSize = sizeFault(terms, type);
  if (badSize !== null) return badSize;
  const count = terms.files.length;
  const postage = postageOf(terms);
  const { sats, ofType } = await inventory.offer(type, { postage: Number(postage), count }, asker);
  const most = asker.key.terms.reservedMax ?? stock.reservedMost ?? count;
  const neverFits = boundFault(type, count, reservationBounds(most, ofType.length), ofType.length);
  if (neverFits !== null) return neverFits;
  if (sats.length < count) {
    const why = postage === BigInt(postageMost) ? '' : ` with a postage of ${postage} sats`;
    return rareSatsFault(
      sats.length === 0
        ? `rareSats: there is no sat of type ${type} now${why}.`
        : `rareSats: there are ${sats.length} sats of type ${type} now${why}, not one for each of ${count} files.`,
    );
  }
  return {
    kind: 'stocked',
    terms: {
      ...terms,
      inventory: sats.map(({ output, place }) => ({ value: BigInt(output.value), place: BigInt(place) })),
    },
    sats: sats.map(({ output: { txid, vout, value, height, blockHash }, keyIndex, place, sat }) => ({
      txid,
      vout,
      value,
      keyIndex,
      height,
      blockHash,
      place,
      sat,
    })),
    ofType,
    fee: BigInt(inventory.baseFee(type)),
  };
}

/**
 * The fault of an order with more sats than its client, or all who ask for the type, can ever have before they pay: no
 * waiting helps it. Null: it may fit. The bound of a network is never below that of a client.
 */
function boundFault(
  type: InventoryType,
  count: number,
  bounds: ReservationBounds,
  ofType: number,
): Faulty | null {
  if (count > bounds.client) {
    const message = `An order of yours has at most ${bounds.client} sats of the inventory, one a file, not ${count}.`;
    return { kind: 'faulty', faults: [{ message, parameter: 'files' }] };
  }
  // without any the answer is that there are none now
  if (count <= bounds.type || ofType === 0) return null;
  return rareSatsFault(
    `rareSats: orders that are not paid yet have at most ${bounds.type} of the ${ofType} sats of type ${type}, not ${count}.`,
  );
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
  const sizes = files.map(bytesOf);
  const bad = sizes.findIndex((bytes) => bytes !== null && (bytes < least || bytes > most));
  if (bad === -1) return null;
  const which = files.length === 1 ? '' : ` (file ${bad + 1})`;
  return rareSatsFault(
    `Sats of type ${type} take files of ${least} to ${most} bytes, not of ${sizes[bad]}${which}.`,
  );
}

/** Length of the content of a file; null: it has none. */
const bytesOf = ({ body }: OrderTerms['files'][number]): number | null =>
  typeof body === 'number' ? body : (body?.length ?? null);
