// The pause before a page requests its order again. Pure.

/** @import { OrderState } from './order-shapes.js' */

/**
 * Pause while a payment is awaited, in ms. A payment is shown soon after it was sent, and the page makes far fewer than
 * the 300 reads per minute that an address may make (docs/orders-api.md).
 */
const payMs = 4_000;
/** Pause while a block is awaited, in ms. Blocks come every ten minutes. */
const blockMs = 15_000;
/** Pause after an order has ended, in ms. Only late payments and reorganisations change it then. */
const overMs = 120_000;
/** Factor by which the pause of a hidden page is longer. */
const hiddenTimes = 8;
/** Longest pause after failures, in ms. After each failure the pause is twice as long. */
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
 * @param {{ readonly state: OrderState | null, readonly isHidden: boolean, readonly failures: number,
 *   readonly retryAfterMs: number | null }} look
 * `failures`: the number of failed requests since the last success
 */
export function pauseMs({ state, isHidden, failures, retryAfterMs }) {
  const usual = (state === null ? payMs : pauses[state]) * (isHidden ? hiddenTimes : 1);
  const failed = failures === 0 ? 0 : Math.min(payMs * 2 ** Math.min(failures, 10), failureMostMs);
  return Math.max(usual, failed, retryAfterMs ?? 0);
}
