import type { SoldStanding } from '#collections/selling/sold-items.store.ts';
import type { OrderState } from '#orders/order/order-machine.ts';

/**
 * An order that buys items of a collection, with the data of the orders, the ledger and the collection about it, read
 * at one moment.
 */
export interface AuditedCollectionOrder {
  readonly id: string;
  /**
   * State of the order. Null if the order does not exist, because it was refused, or because the process ended while
   * the order was being created.
   */
  readonly state: OrderState | null;
  readonly standing: SoldStanding;
  readonly items: number;
  /** Sats that the creator gets per item. */
  readonly price: bigint;
  /** Whether the order inscribes on sats of the inventory, so that single files can be refunded. */
  readonly isStocked: boolean;
  /**
   * Whether a signed delivery may still be mined, because no refund is deep enough in the chain to exclude the
   * delivery.
   */
  readonly mayBeDelivered: boolean;
  /** Sats of the creator in the order's ledger. */
  readonly earned: bigint;
  /** Sats of the service in the order's ledger. */
  readonly revenue: bigint;
}

/** A difference between a number that follows from orders, and the stored number of the collection or the ledger. */
export interface CollectionOrderFault {
  /** `standing`: an order's items do not match its state. `earned`: sats of the creator differ. */
  readonly kind: 'standing' | 'earned';
  readonly where: string;
  readonly noted: bigint;
  readonly found: bigint;
}

/** States in which an order has its items permanently. */
const delivered: ReadonlySet<OrderState> = new Set(['queued', 'completed']);
/** States in which an order gives its items back, once no delivery of the order can be mined any more. */
const without: ReadonlySet<OrderState> = new Set(['cancelled', 'waiting-refund', 'refunded']);
/** States in which no block has a delivery of the order. */
const unearned: ReadonlySet<OrderState> = new Set(['waiting-payment', 'expired', 'cancelled', 'refunded']);

/** Differences between an order's state, its items, and the creator's sats. Pure. */
export function faultsOfCollectionOrder(order: AuditedCollectionOrder): CollectionOrderFault[] {
  const { id, state, standing, earned } = order;
  const items = BigInt(order.items);
  const due = dueOf(order, order.price * items);
  const found = standing === 'refused' || standing === 'late' || standing === 'released' ? 0n : items;
  const where = `${id} (${state ?? 'no order'}, ${standing})`;
  return [
    ...(isRightStanding(order)
      ? []
      : [{ kind: 'standing', where, noted: isDelivered(state) ? items : 0n, found } as const]),
    ...(earned === due ? [] : [{ kind: 'earned', where, noted: due, found: earned } as const]),
  ];
}

const isDelivered = (state: OrderState | null): boolean => state !== null && delivered.has(state);

function isRightStanding({ state, standing, mayBeDelivered }: AuditedCollectionOrder): boolean {
  if (state === null) return standing === 'making' || standing === 'released';
  // the database transaction that stores an order also ends `making`
  if (standing === 'making') return false;
  if (isDelivered(state)) return standing === 'allowed';
  return mayBeDelivered || !without.has(state) || (standing !== 'unpaid' && standing !== 'allowed');
}

/** Sats that the creator should have from an order. If two amounts would be right, returns the amount in the ledger. */
function dueOf({ state, earned, revenue, isStocked }: AuditedCollectionOrder, price: bigint): bigint {
  if (earned > price) return price;
  if (state === null || unearned.has(state)) return 0n;
  // the creator's share is booked first, so if the service got revenue, the creator must have the whole price
  // (partner-shares.ts)
  return state === 'completed' && !isStocked && revenue > 0n ? price : earned;
}
