/** SQL: an id that never belongs to an order. */
const noOrder = `'00000000-0000-0000-0000-000000000000'::uuid`;

/**
 * SQL: whether a named item is free, because it does not belong to an order. `order_id IS NULL` would mean the same.
 * But then the planner could scan the index of all free items to find a few named items. That takes 13 ms for 20,000
 * free items, instead of 0.1 ms by item number.
 *
 * @param item SQL name of a row of mint_items
 */
export const isFree = (item: string): string => `coalesce(${item}.order_id, ${noOrder}) = ${noOrder}`;
