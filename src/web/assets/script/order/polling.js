// Computes the pause before a page requests its order again. Pure.

/** @import { OrderState } from './order-shapes.js' */

/**
 * Pause while a payment is awaited, in ms. The page shows a payment soon after it was sent. The page sends far fewer
 * requests than the 300 per minute that one IP address may send (docs/orders-api.md).
 */
const payMs = 4_000;
/** Pause while a block is awaited, in ms. A block comes every ten minutes. */
const blockMs = 15_000;
/** Pause after an order has ended, in ms. After the end, only late payments and reorganisations change the order. */
const overMs = 120_000;
/** Factor for the pause while the page is hidden. */
const hiddenTimes = 8;
/** Maximum pause after failures, in ms. The pause doubles after each failure. */
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
