import type { Order } from '#orders/order/order.store.ts';
import type { OrderState } from '#orders/order/order-machine.ts';

/** Facts that decide how long an order keeps its inventory sat. */
export interface ReservingOrder extends Pick<Order, 'id' | 'state' | 'expiresAt' | 'paidAt'> {
  /** Time since which the order is in the state `error`, or null if it is in another state. */
  readonly failedAt: Date | null;
}

/**
 * How long an expired order still keeps its sat, in ms. A payment in the last second is stored only after the mempool
 * has been read. Reading the mempool takes seconds, or a minute on a busy machine.
 */
const knownWithinMs = 120_000;
/**
 * How long after its expiry time an order keeps its sat while its payment waits for blocks, in ms. Without this bound,
 * a payment at the lowest fee rate would hold the sat for weeks, and would cost almost nothing.
 */
export const minedWithinMs = 24 * 3_600_000;
/**
 * How long a failed order keeps its sat, in ms. An operator who checks once a day can then retry it. A customer can
 * make an order fail, so the sat must not be locked forever.
 */
export const retriedWithinMs = 24 * 3_600_000;

/** Time until which an order in this state keeps its sat, or null if it keeps the sat until the state changes. Pure. */
export function reservedUntil(order: Omit<ReservingOrder, 'id'>): Date | null {
  const { state, expiresAt, paidAt, failedAt } = order;
  if (state === 'expired') return new Date(expiresAt.getTime() + knownWithinMs);
  if (state === 'error') return failedAt === null ? null : new Date(failedAt.getTime() + retriedWithinMs);
  // an order that was paid once keeps its sat, because the reveal may be signed, and a reorganisation may have removed
  // the payment from its block
  if (state !== 'waiting-confirmation' || paidAt !== null) return null;
  return new Date(expiresAt.getTime() + minedWithinMs);
}

/** Whether an order needs its sat now. Pure. */
export function isReserving(order: Omit<ReservingOrder, 'id'>, now: Date): boolean {
  const { state } = order;
  if (state === 'cancelled' || state === 'waiting-refund' || state === 'refunded') return false;
  const until = reservedUntil(order);
  return until === null || now < until;
}

/**
 * States in which a reserved sat is included in the bounds of its client and its network (ORDER_RESERVED_MAX). In these
 * states nothing is delivered yet, and the delivery is uncertain.
 */
export const countedStates = [
  'waiting-payment',
  'waiting-parent',
  'waiting-confirmation',
  'error',
] as const satisfies readonly OrderState[];

/**
 * States that an order leaves only if the chain is reorganised or a new payment arrives. The client of the order is
 * deleted in these states.
 */
export const forgettingStates = [
  'completed',
  'cancelled',
  'refunded',
] as const satisfies readonly OrderState[];
