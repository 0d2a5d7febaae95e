// How long a page waits until it asks for its order again. Pure.

/** @import { OrderState } from './order-shapes.js' */

/** Seen soon after it was sent, and far from the 300 reads a minute that an address has (docs/orders-api.md). */
const payMs = 4_000;
/** Blocks come every ten minutes. */
const blockMs = 15_000;
/** Late payments and reorganisations alone change what is over. */
const overMs = 120_000;
/** A page that is not looked at. */
const hiddenTimes = 8;
/** After failures, each pause twice the one before. */
const failureMostMs = 60_000;

/** @type {Readonly<Record<OrderState, number>>} */
const pauses = {
  'waiting-payment': payMs,
  'waiting-parent': payMs,
  'waiting-confirmation': blockMs,
  prep: payMs,
  'waiting-reveal': blockMs,
  'waiting-rune-balance': blockMs,
  queued: blockMs,
  completed: overMs,
  expired: overMs,
  cancelled: overMs,
  'waiting-refund': blockMs,
  refunded: overMs,
  error: blockMs,
};

/**
 * @param {{ readonly state: OrderState | null, readonly isHidden: boolean, readonly failures: number, readonly retryAfterMs: number | null }} look
 *   `failures`: of the last requests, one after the other
 */
export function pauseMs({ state, isHidden, failures, retryAfterMs }) {
  const usual = (state === null ? payMs : pauses[state]) * (isHidden ? hiddenTimes : 1);
  const failed = failures === 0 ? 0 : Math.min(payMs * 2 ** Math.min(failures, 10), failureMostMs);
  return Math.max(usual, failed, retryAfterMs ?? 0);
}
