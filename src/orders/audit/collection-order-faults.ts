import type { SoldStanding } from '#collections/selling/sold-items.store.ts';
import type { OrderState } from '#orders/order/order-machine.ts';

/** An order that buys of a collection, with what its room, its ledger and the collection say of it at one moment. */
export interface AuditedCollectionOrder {
  readonly id: string;
  /** Null: there is no such order. It was not made, or its making died. */
  readonly state: OrderState | null;
  readonly standing: SoldStanding;
  readonly items: number;
  /** Sats an item for the creator. */
  readonly price: bigint;
  /** Files of it may be refunded alone: it is inscribed on sats of the inventory. */
  readonly isStocked: boolean;
  /** A delivery of it is signed, and no refund of it is so deep in the chain that none can be mined. */
  readonly mayBeDelivered: boolean;
  /** Sats that its ledger has for the creator. */
  readonly earned: bigint;
  /** The same for the service. */
  readonly revenue: bigint;
}

/** A number that orders say, and the one that collection or ledger has. */
export interface CollectionOrderFault {
  /** `standing`: the items of an order, in a state that has them, or has none. `earned`: sats of the creator. */
  readonly kind: 'standing' | 'earned';
  readonly where: string;
  readonly noted: bigint;
  readonly found: bigint;
}

/** States whose order has its items for good. */
const delivered: ReadonlySet<OrderState> = new Set(['queued', 'completed']);
/** States of orders that give their items back, at once where no delivery of them may be mined. */
const without: ReadonlySet<OrderState> = new Set(['cancelled', 'waiting-refund', 'refunded']);
/** States in which no block has a delivery. */
const unearned: ReadonlySet<OrderState> = new Set(['waiting-payment', 'expired', 'cancelled', 'refunded']);

/** Differences between the state of an order, its items, and the sats of the creator. Pure. */
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

/** Sats that the creator has of an order; what it has where either is right. */
function dueOf({ state, earned, revenue, isStocked }: AuditedCollectionOrder, price: bigint): bigint {
  if (earned > price) return price;
  if (state === null || unearned.has(state)) return 0n;
  // the share comes first: where it is not whole, nothing is left for the service (partner-shares.ts)
  return state === 'completed' && !isStocked && revenue > 0n ? price : earned;
}
