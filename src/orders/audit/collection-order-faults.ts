import type { SoldStanding } from '#collections/selling/sold-items.store.ts';
import type { OrderState } from '#orders/order/order-machine.ts';

/** An order that buys of a collection, with what orders, its ledger and the collection say about it at one moment. */
export interface AuditedCollectionOrder {
  readonly id: string;
  /** Null: the order does not exist. It was refused, or the process ended while it was being created. */
  readonly state: OrderState | null;
  readonly standing: SoldStanding;
  readonly items: number;
  /** Sats that the creator gets for an item. */
  readonly price: bigint;
  /** Single files of it can be refunded: it is inscribed on sats of the inventory. */
  readonly isStocked: boolean;
  /** A delivery is signed, and no refund is so deep in the chain that the delivery can no longer be mined. */
  readonly mayBeDelivered: boolean;
  /** Sats of the creator in its ledger. */
  readonly earned: bigint;
  /** Sats of the service in its ledger. */
  readonly revenue: bigint;
}

/** A number that follows from orders, and the one that the collection or the ledger has. */
export interface CollectionOrderFault {
  /** `standing`: an order's items do not match its state. `earned`: sats of the creator differ. */
  readonly kind: 'standing' | 'earned';
  readonly where: string;
  readonly noted: bigint;
  readonly found: bigint;
}

/** States in which an order has its items for good. */
const delivered: ReadonlySet<OrderState> = new Set(['queued', 'completed']);
/** States in which an order gives its items back, as soon as no delivery of it can be mined. */
const without: ReadonlySet<OrderState> = new Set(['cancelled', 'waiting-refund', 'refunded']);
/** States in which no block has a delivery. */
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
  // the transaction that stores an order ends its making
  if (standing === 'making') return false;
  if (isDelivered(state)) return standing === 'allowed';
  return mayBeDelivered || !without.has(state) || (standing !== 'unpaid' && standing !== 'allowed');
}

/** Sats that the creator should have from an order; if two amounts are right, the one in the ledger. */
function dueOf({ state, earned, revenue, isStocked }: AuditedCollectionOrder, price: bigint): bigint {
  if (earned > price) return price;
  if (state === null || unearned.has(state)) return 0n;
  // the creator's share is booked first: if it is not whole, the service gets nothing (partner-shares.ts)
  return state === 'completed' && !isStocked && revenue > 0n ? price : earned;
}
