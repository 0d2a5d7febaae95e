/**
 * SQL: the orders of items of collections, a row each: `order_id`, its `collection`, its `items`, the `price` of each
 * for the creator, and the `standing` of the items.
 */
export const collectionOrders =
  'SELECT order_id, collection, items, price, standing FROM service.mint_orders';
