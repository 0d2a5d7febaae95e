// Time until a page requests its order again. Pure.

/** @import { OrderState } from './order-shapes.js' */

/**
 * A payment is shown soon after it was sent, with far fewer than the 300 reads per minute of an address
 * (docs/orders-api.md).
 */
const payMs = 4_000;
/** Blocks come every ten minutes. */
const blockMs = 15_000;
/** Only late payments and reorganisations change an ended order. */
const overMs = 120_000;
/** Factor of the pause for a hidden page. */
const hiddenTimes = 8;
/** The longest pause after failures; each pause is twice as long as the previous one. */
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
 * `failures`: the number of the last requests that failed without a success between them
 */
export function pauseMs({ state, isHidden, failures, retryAfterMs }) {
  const usual = (state === null ? payMs : pauses[state]) * (isHidden ? hiddenTimes : 1);
  const failed = failures === 0 ? 0 : Math.min(payMs * 2 ** Math.min(failures, 10), failureMostMs);
  return Math.max(usual, failed, retryAfterMs ?? 0);
}
