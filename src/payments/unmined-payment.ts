/**
 * How long after the end of an order an unmined payment keeps the order open, in ms. Without this bound, a payment that
 * is never mined would keep the order, and the customer's money, for ever. Strangers can send such a payment at no
 * cost.
 */
export const unminedCountsMs = 72 * 3_600_000;
