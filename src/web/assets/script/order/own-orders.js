// Stores the orders that this browser created or opened. The list stays in the browser, because an order's id is a
// secret.

/** @typedef {{ readonly id: string, readonly at: number, readonly words: string }} OwnOrder */

const place = 'satscribe-orders';
/** Maximum number of orders in the list. People have fewer orders in progress. The oldest orders are removed first. */
const ordersMax = 50;
/** Maximum number of characters in the description of an order. All descriptions that the pages store are shorter. */
const wordsMax = 200;

const orderId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;

/** @param {string} text */
export const isOrderId = (text) => orderId.test(text);

/**
 * The order id in the fragment of a URL. The result is null if the fragment has no id.
 *
 * @param {string} fragment with its `#`
 */
export function orderIdOf(fragment) {
  const id = fragment.replace(/^#/u, '').trim().toLowerCase();
  return isOrderId(id) ? id : null;
}

/**
 * The browser's storage for this site. Some browsers have no storage, and throw an error on access. The result then
 * stores nothing.
 *
 * @returns {Pick<Storage, 'getItem' | 'setItem'>}
 */
export function browserStorage() {
  try {
    return localStorage;
  } catch {
    return { getItem: () => null, setItem: () => undefined };
  }
}

/**
 * The stored orders, newest first. The list is empty if the stored value is not a list of orders.
 *
 * @param {Pick<Storage, 'getItem'>} storage
 * @returns {readonly OwnOrder[]}
 */
export function ownOrders(storage) {
  try {
    const stored = /** @type {unknown} */ (JSON.parse(storage.getItem(place) ?? '[]'));
    return Array.isArray(stored) ? stored.filter(isOwnOrder).slice(0, ordersMax) : [];
  } catch {
    // the browser has no storage, or other code wrote this value
    return [];
  }
}

/**
 * @param {unknown} value
 * @returns {value is OwnOrder}
 */
function isOwnOrder(value) {
  if (typeof value !== 'object' || value === null) return false;
  const { id, at, words } = /** @type {Readonly<Record<string, unknown>>} */ (value);
  return (
    typeof id === 'string' &&
    isOrderId(id) &&
    typeof at === 'number' &&
    Number.isFinite(at) &&
    typeof words === 'string' &&
    words.length <= wordsMax
  );
}

/**
 * Puts an order at the top of the list. The result is false if the browser cannot store anything.
 *
 * @param {Pick<Storage, 'getItem' | 'setItem'>} storage
 * @param {OwnOrder} order
 */
export function rememberOrder(storage, order) {
  const others = ownOrders(storage).filter(({ id }) => id !== order.id);
  const kept = { ...order, words: order.words.slice(0, wordsMax) };
  return write(storage, [kept, ...others].slice(0, ordersMax));
}

/**
 * @param {Pick<Storage, 'getItem' | 'setItem'>} storage
 * @param {string} forgotten
 */
export const forgetOrder = (storage, forgotten) =>
  write(
    storage,
    ownOrders(storage).filter(({ id }) => id !== forgotten),
  );

/**
 * @param {Pick<Storage, 'setItem'>} storage
 * @param {readonly OwnOrder[]} orders
 */
function write(storage, orders) {
  try {
    storage.setItem(place, JSON.stringify(orders));
    return true;
  } catch {
    return false;
  }
}
