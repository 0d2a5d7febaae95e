// The orders that this browser made or opened. They stay in the browser: the id of an order is a secret.

/** @typedef {{ readonly id: string, readonly at: number, readonly words: string }} OwnOrder */

const place = 'satscribe-orders';
/** More than a person has under way; the oldest leave the list. */
const ordersMax = 50;
/** More than any words that are stored here. */
const wordsMax = 200;

const orderId = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/u;

/** @param {string} text */
export const isOrderId = (text) => orderId.test(text);

/**
 * The id in the fragment of an address; null: there is none.
 *
 * @param {string} fragment with its `#`
 */
export function orderIdOf(fragment) {
  const id = fragment.replace(/^#/u, '').trim().toLowerCase();
  return isOrderId(id) ? id : null;
}

/**
 * Place in which the browser keeps texts of this site. Some browsers keep none, and refuse to say so in another way than this.
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
 * The stored orders, newest first. What is no list of them counts as none.
 *
 * @param {Pick<Storage, 'getItem'>} storage
 * @returns {readonly OwnOrder[]}
 */
export function ownOrders(storage) {
  try {
    const stored = /** @type {unknown} */ (JSON.parse(storage.getItem(place) ?? '[]'));
    return Array.isArray(stored) ? stored.filter(isOwnOrder).slice(0, ordersMax) : [];
  } catch {
    // the browser keeps nothing, or something else wrote there
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
 * Puts an order first in the list. False: the browser keeps nothing.
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
