import type pg from 'pg';
import type { Outpoint } from '#chain/outputs/output.queries.ts';
import { knowsSatRanges } from '#chain/sats/known-ranges.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { InvalidRequest } from '#http/server/requests/validation.ts';
import type { Inventory } from '#inventory/inventory.ts';
import { contentBytes, postageMost } from '#inventory/inventory-standing.ts';
import { type InventoryType, inventoryTypeOf, inventoryTypes } from '#inventory/inventory-types.ts';
import type { Asker } from '#kernel/contracts/asker.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { inventoryFaults } from '#orders/inscribing/check-terms.ts';
import { postageOf } from '#orders/inscribing/order-layout.ts';
import type { OrderTerms } from '#orders/inscribing/order-terms.ts';
import type { RequestFault } from '#orders/reading/request-values.ts';
import type { StockedSat } from '#orders/stock/reservations.store.ts';

/** Common sats, which every payment has: what `rareSats` says where it asks for none. */
export const commonSats = 'random';

const parameter = 'rareSats';

/** An order must be paid within this time: meanwhile nobody else has its sat. */
export const reservedMinutes = 30;

/** Of what the app has. */
interface Stock {
  readonly inventory?: Inventory | null;
  /** Of the index. */
  readonly pool: pg.Pool;
}

/** The type of the inventory that an order asks for; null: none. Throws `request_invalid`. */
export function readSatType(rareSats: string): InventoryType | null {
  if (rareSats === commonSats) return null;
  const type = inventoryTypeOf(rareSats);
  if (type !== null) return type;
  throw badSats(`rareSats must be one of ${[commonSats, ...inventoryTypes].join(', ')}`);
}

/** Why an order cannot have a sat of the inventory, whatever there is. */
export function satTypeFaults(
  type: InventoryType | null,
  terms: OrderTerms,
  allowed: readonly string[] | null,
): RequestFault[] {
  if (type === null) return [];
  const faults: RequestFault[] = [...inventoryFaults(terms)].map(({ reason }) => ({
    message: reason,
    parameter,
  }));
  const postage = postageOf(terms);
  // all its sats are the operator's special ones, and one is paid for
  if (postage > postageMost)
    faults.push({
      message: `postage is at most ${postageMost} sats with rareSats, not ${postage}.`,
      parameter: 'postage',
    });
  if (allowed === null) return faults;
  const message = 'rareSats is not possible with allowedSatributes: those are sats of the payment.';
  return [...faults, { message, parameter }];
}

/** An order of a sat of the inventory. */
export interface StockedOrder {
  /** With the output and the place of the sat. */
  readonly terms: OrderTerms;
  readonly sat: StockedSat;
  /** Outputs of the inventory that orders of its type can have, and have. */
  readonly ofType: readonly Outpoint[];
  /** What it costs beside the base fee, in sats. */
  readonly fee: bigint;
}

/**
 * A sat for an order that can have one, as it is there now: nobody has it before it is reserved. Throws
 * `request_invalid` with the reason where there is none, or none for a file of this size, and `orders_off`.
 */
export async function stockedOrder(
  deps: Stock,
  type: InventoryType,
  terms: OrderTerms,
  asker: Asker,
): Promise<StockedOrder> {
  const inventory = await openStock(deps, asker);
  requireSizes(terms, type);
  const postage = postageOf(terms);
  const offer = await inventory.offer(type, Number(postage), asker);
  if (offer === null)
    throw soldOut(type, postage === BigInt(postageMost) ? '' : ` with a postage of ${postage} sats`);
  const { output, keyIndex, place, sat, ofType } = offer;
  const { txid, vout, value, height, blockHash } = output;
  return {
    terms: { ...terms, inventory: { value: BigInt(value), place: BigInt(place) } },
    sat: { txid, vout, value, keyIndex, height, blockHash, place, sat },
    ofType,
    fee: BigInt(inventory.baseFee(type)),
  };
}

/** An inventory of which orders can have something. Throws `orders_off`. */
async function openStock({ inventory = null, pool }: Stock, { signal }: Asker): Promise<Inventory> {
  if (inventory === null || !(await inventory.hasAddresses()))
    throw notOffered('has no wallet with an inventory');
  if (!(await withSnapshot(pool, ({ client }) => knowsSatRanges(client), signal)))
    throw notOffered('has no index of sats (INDEX_SATS), or is still making it');
  return inventory;
}

/** No fault of the request: the operator changes it, or time does. */
const notOffered = (why: string): AppError =>
  new AppError('orders_off', `rareSats is not offered: this service ${why}`);

function requireSizes({ files }: OrderTerms, type: InventoryType): void {
  const { least, most } = contentBytes;
  for (const { body } of files) {
    const bytes = typeof body === 'number' ? body : (body?.length ?? null);
    if (bytes !== null && (bytes < least || bytes > most))
      throw badSats(`Sats of type ${type} take files of ${least} to ${most} bytes, not of ${bytes}.`);
  }
}

const soldOut = (type: InventoryType, why = ''): InvalidRequest =>
  badSats(`rareSats: there is no sat of type ${type} now${why}.`);

const badSats = (message: string): InvalidRequest => new InvalidRequest([{ message, parameter }]);
