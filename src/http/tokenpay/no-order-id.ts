/** The answer if a text is not an id. It begins with the words that clients know (client-compat 2.3). */
export const noOrderId =
  'Order not found: this is not the id of an order, a UUID such as 6f1c2b1e-5a0e-4c55-9d0c-0b8f7f0b9a11';
