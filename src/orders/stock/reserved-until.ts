import type { Order } from '#orders/order/order.store.ts';

/** What decides how long an order keeps its sat of the inventory. */
export type ReservingOrder = Pick<Order, 'id' | 'state' | 'expiresAt' | 'paidAt'>;

/**
 * How long an expired order still keeps its sat. A payment that was first seen in its last second is stored only when
 * the mempool has been read, which takes seconds, or a minute on a busy machine.
 */
const knownWithinMs = 120_000;
/**
 * How long a payment may wait for its blocks: at the least fee rate it would hold the sat for weeks, for next to
 * nothing.
 */
const minedWithinMs = 24 * 3_600_000;

/** Until when an order in this state keeps its sat; null: as long as it stays in the state. Pure. */
export function reservedUntil({ state, expiresAt, paidAt }: Omit<ReservingOrder, 'id'>): Date | null {
  if (state === 'expired') return new Date(expiresAt.getTime() + knownWithinMs);
  // its reveal may be signed, and a reorganisation took the payment out of its block
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
