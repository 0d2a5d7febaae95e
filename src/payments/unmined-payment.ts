/**
 * The time after the end of an order in which a payment must get its block. A payment that never gets one, as a
 * stranger sends it for nothing, would keep the order, and the customer's money, for ever.
 */
export const unminedCountsMs = 72 * 3_600_000;
