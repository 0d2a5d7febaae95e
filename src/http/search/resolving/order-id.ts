/** A UUID, alone or at the end of the URL of an order's page. */
const orderId = /^(?:\S*\/order(?:[#/]|\?id=))?[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/iu;

/**
 * Whether a text is the id of an order, or a link with such an id. An order id is a secret, so such a text is never
 * searched, stored or shown. The script `order-id.js` of our pages knows the same form, and keeps the id in the
 * browser.
 */
export const isOrderId = (text: string): boolean => orderId.test(text.trim());
