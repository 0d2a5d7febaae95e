/**
 * How long after the end of an order an unmined payment keeps the order open, in ms. Without this bound, a payment that
 * is never mined would keep the order open, and the customer's money in it, forever. Strangers can send such a payment
 * without any cost.
 */
export const unminedCountsMs = 72 * 3_600_000;
