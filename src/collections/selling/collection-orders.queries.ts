/**
 * SQL: the orders of collection items, one row each. `items` is the number of items, `price` is the price of one item
 * for the creator, and `standing` is the state of the items (`SoldStanding`).
 */
export const collectionOrders =
  'SELECT order_id, collection, items, price, standing FROM service.mint_orders';
