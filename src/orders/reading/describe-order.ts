import type { InventoryType } from '#inventory/inventory-types.ts';
import type { Faulty, RequestFault } from '#kernel/requests/request-values.ts';
import { type ExtrasOptions, type OrderExtras, readExtras } from './read-extras.ts';
import { type ReadOptions, type ReadOrder, readOrderRequest } from './read-order.ts';
import { commonSats, rareSatsFaults, readRareSats } from './read-rare-sats.ts';
import { satributeFaults } from './read-satributes.ts';

/** An order as its body describes it. */
export interface DescribedOrder {
  readonly kind: 'described';
  readonly read: ReadOrder;
  readonly extras: OrderExtras;
  /** The type of sats of the inventory that it wants; null: none. */
  readonly satType: InventoryType | null;
  /** Faults beside which others can be found. */
  readonly faults: readonly RequestFault[];
}

export type DescribeOptions = ReadOptions &
  Pick<ExtrasOptions, 'satributes' | 'urlProblem'> & {
    /** Time of an order that names none. */
    readonly timeoutMinutes: number;
  };

/**
 * Minutes within which an order must be paid that has a sat of the inventory, or an item of a collection: it is
 * reserved for so long.
 */
const reservedMinutes = 30;

/**
 * Reads the whole body of an order, for its price and for its creation alike: what one refuses, the other refuses in
 * the same words. Only what a price may lack differs. Total.
 */
export function describeOrder(body: unknown, options: DescribeOptions): DescribedOrder | Faulty {
  const read = readOrderRequest(body, options);
  const isReserving = options.items != null || (read.kind === 'read' && read.rareSats !== commonSats);
  const extras = readExtras(body, {
    ...options,
    ...(isReserving ? { timeoutMinutes: reservedMinutes, timeoutMostMinutes: reservedMinutes } : {}),
  });
  if (read.kind === 'faulty') return { kind: 'faulty', faults: [...read.faults, ...extras.faults] };
  const sats = readRareSats(read.rareSats);
  if (sats.kind === 'faulty') return sats;
  const { allowedSatributes } = extras.request(0n, 0);
  const stocked = rareSatsFaults(sats.type, read.terms, allowedSatributes);
  const faults = [...extras.faults, ...stocked, ...satributeFaults(allowedSatributes, read.terms)];
  return { kind: 'described', read, extras, satType: sats.type, faults };
}
