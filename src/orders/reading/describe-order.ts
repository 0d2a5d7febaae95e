import type { InventoryType } from '#inventory/inventory-types.ts';
import type { Faulty, RequestFault } from '#kernel/requests/request-values.ts';
import { type ExtrasOptions, type OrderExtras, readExtras } from './read-extras.ts';
import { type ReadOptions, type ReadOrder, readOrderRequest } from './read-order.ts';
import { commonSats, rareSatsFaults, readRareSats } from './read-rare-sats.ts';
import { satributeFaults } from './read-satributes.ts';

/** An order that was read from a body. */
export interface DescribedOrder {
  readonly kind: 'described';
  readonly read: ReadOrder;
  readonly extras: OrderExtras;
  /** The type of inventory sats that the order wants. Null if the order wants no inventory sats. */
  readonly satType: InventoryType | null;
  /** Faults that did not prevent the search for further faults. */
  readonly faults: readonly RequestFault[];
}

export type DescribeOptions = ReadOptions &
  Pick<ExtrasOptions, 'satributes' | 'urlProblem'> & {
    /** Timeout in minutes for an order that names no timeout. */
    readonly timeoutMinutes: number;
  };

/**
 * Maximum time to pay, in minutes, for an order with an inventory sat or an item of a collection. The reservation lasts
 * this long.
 */
const reservedMinutes = 30;

/**
 * Reads the whole body of an order, for its price or for its creation. A price and a creation refuse the same bodies,
 * in the same words. They differ only in fields that a price may lack. Never throws.
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
