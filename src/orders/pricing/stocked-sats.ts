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
  /** The inventory of sats. Null if there is no inventory. */
  readonly inventory: Inventory | null;
  /** Connections to the index. */
  readonly pool: pg.Pool;
  /**
   * Maximum number of sats that unpaid orders of a client can reserve if its key has no other bound
   * (ORDER_RESERVED_MAX). Null if this process accepts no orders.
   */
  readonly reservedMost: number | null;
}

/** The planned terms of an order, and the price of each special sat in addition to the base fee, in sats. */
export interface SatPrice {
  readonly kind: 'sat-price';
  readonly terms: OrderTerms;
  readonly rareSatsFee: bigint;
}

/**
 * Prices the sats that an order requests, with the same offer that its creation would reserve. The terms contain the
 * positions of the offered sats. Throws `orders_off`.
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

/** An order of inventory sats. */
export interface StockedOrder {
  readonly kind: 'stocked';
  /** The terms of the order, with the positions of the sats in their outputs. */
  readonly terms: OrderTerms;
  /** One sat for each file, in the sequence of the files. */
  readonly sats: readonly StockedSat[];
  /** Outputs with sats of the type, reserved or not. */
  readonly ofType: readonly Outpoint[];
  /** The price of each sat in addition to the base fee, in sats. */
  readonly fee: bigint;
}

/**
 * Offers an available sat to each file of an order. The sats are not reserved yet. Returns a fault if there are not
 * enough sats, now or ever, or if no sat fits a file of its size. Throws `orders_off`.
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
        : `rareSats: there are only ${sats.length} sats of type ${type} now${why}, but each of ${count} files needs one.`,
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
 * Fault of an order with more sats than its client can ever reserve, or than all clients together can reserve of the
 * type. Waiting does not help. Null if the order may fit. The bound of a network is never below the bound of a client.
 */
function boundFault(
  type: InventoryType,
  count: number,
  bounds: ReservationBounds,
  ofType: number,
): Faulty | null {
  if (count > bounds.client) {
    const message = `Your order can have at most ${bounds.client} sats of the inventory, one for each file, but it needs ${count}.`;
    return { kind: 'faulty', faults: [{ message, parameter: 'files' }] };
  }
  // if there are no outputs at all, a later message says that none are available now
  if (count <= bounds.type || ofType === 0) return null;
  return rareSatsFault(
    `rareSats: unpaid orders can have at most ${bounds.type} of the ${ofType} sats of type ${type}, but this order needs ${count}.`,
  );
}

/** The inventory, if orders can use it. Throws `orders_off`. */
async function openStock({ inventory, pool }: Stock, { signal }: Asker): Promise<Inventory> {
  if (inventory === null || !(await inventory.hasAddresses()))
    throw notOffered('has no wallet with an inventory');
  if (!(await withSnapshot(pool, ({ client }) => knowsSatRanges(client), signal)))
    throw notOffered('has no index of sats (INDEX_SATS), or is still making this index');
  return inventory;
}

/**
 * The error that rareSats is not offered. It is not a fault of the request, because only the operator, or time, can
 * change it.
 */
const notOffered = (why: string): AppError =>
  new AppError('orders_off', `rareSats is not possible, because this service ${why}`);

/** The fault of a file that is too short or too long for sats of a type. Null if all files fit. */
function sizeFault({ files }: OrderTerms, type: InventoryType): Faulty | null {
  const { least, most } = contentBytes;
  const sizes = files.map(bytesOf);
  const bad = sizes.findIndex((bytes) => bytes !== null && (bytes < least || bytes > most));
  if (bad === -1) return null;
  const which = files.length === 1 ? '' : ` (file ${bad + 1})`;
  return rareSatsFault(
    `Sats of type ${type} are for files of ${least} to ${most} bytes, not of ${sizes[bad]}${which}.`,
  );
}

/** Length of a file's content. Null if the file has no content. */
const bytesOf = ({ body }: OrderTerms['files'][number]): number | null =>
  typeof body === 'number' ? body : (body?.length ?? null);
