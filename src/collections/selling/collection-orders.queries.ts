/** SQL: the orders that buy of collections, a row each: `order_id`, its `collection` and its `items`. */
export const collectionOrders = 'SELECT order_id, collection, items FROM service.mint_orders';
