// Requests the price of a new order while the customer types. Only the response to the newest request is used, and
// requests are not too frequent.
import { postJson } from './ask-service.js';
import { base64Of, bytesOfItem, orderBody } from './order-body.js';
import { vindicatedCount } from './price-lines.js';

/** @import { Price } from './order-shapes.js' */
/** @import { Fields, Item } from './order-body.js' */

/** How long the page waits for the next keystroke before it requests the price, in ms. */
const quietMs = 450;
/**
 * Maximum number of bytes of contents that are sent for a price. With the contents, the service can find savings by
 * brotli and savings by known contents. If there are more bytes, only their sizes are sent.
 */
const sentBytesMax = 60_000;
/**
 * Maximum number of reveals of an order. An order with more contents cannot have one reveal for each content
 * (docs/orders-api.md).
 */
const revealsMax = 150;

/** The message for a file that the customer moved, changed or deleted. */
export const unreadable =
  'A file can no longer be read: it was moved or changed. Remove it, and add it again.';

/**
 * An order whose price is requested.
 *
 * @typedef {{
 *   readonly type: string,
 *   readonly order: () => Promise<Readonly<Record<string, unknown>> | null>,
 *   readonly canUncurse: boolean,
 * }} Question `order` returns the body, or `null` if one of the order's files can no longer be read.
 *   `canUncurse` says whether one reveal for each inscription can be offered
 *
 * @typedef {{ readonly kind: 'price', readonly price: Price, readonly uncursed: Price | null }
 *   | { readonly kind: 'refused', readonly messages: readonly string[] }} Priced
 */

export class Pricing {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  #timer;
  /** @type {AbortController | null} */
  #asked = null;
  #onPrice;

  /** @param {(priced: Priced) => void} onPrice */
  constructor(onPrice) {
    this.#onPrice = onPrice;
  }

  /** Stops the current request, and a request that waits for a pause in typing. */
  stop() {
    clearTimeout(this.#timer);
    this.#asked?.abort();
  }

  /**
   * @param {Question} question
   * @param {number} [afterMs]
   */
  ask(question, afterMs = quietMs) {
    this.stop();
    const asked = new AbortController();
    this.#asked = asked;
    this.#timer = setTimeout(() => {
      this.#price(question, asked.signal).catch(() => undefined);
    }, afterMs);
  }

  /**
   * @param {Question} question
   * @param {AbortSignal} signal
   */
  async #price(question, signal) {
    const { type, canUncurse } = question;
    const order = await question.order().catch(() => null);
    if (signal.aborted) return;
    if (order === null) {
      this.#onPrice({ kind: 'refused', messages: [unreadable] });
      return;
    }
    const outcome = await postJson('/price?plan=1', { type, order }, { signal });
    if (signal.aborted) return;
    if (outcome.kind === 'answered') {
      const price = /** @type {Price} */ (outcome.body);
      this.#onPrice({ kind: 'price', price, uncursed: null });
      if (vindicatedCount(price) === 0 || !canUncurse || price.count > revealsMax) return;
      const other = await postJson('/price', { type, order: { ...order, uncurseIt: true } }, { signal });
      if (!signal.aborted && other.kind === 'answered')
        this.#onPrice({ kind: 'price', price, uncursed: /** @type {Price} */ (other.body) });
      return;
    }
    const isBusy = outcome.kind === 'unreachable' || outcome.status === 429 || outcome.status >= 500;
    const again = isBusy ? ['This page asks again by itself.'] : [];
    this.#onPrice({ kind: 'refused', messages: [...outcome.messages, ...again] });
    if (isBusy) this.ask(question, outcome.retryAfterMs ?? 5_000);
  }
}

/**
 * The request for the price of contents.
 *
 * @param {readonly Item[]} items
 * @param {Fields} fields
 * @returns {Question}
 */
export const questionOf = (items, fields) => ({
  type: fields.type,
  order: () => pricedBody(items, fields),
  canUncurse: !fields.uncurse,
});

/**
 * @param {readonly Item[]} items
 * @param {Fields} fields
 */
async function pricedBody(items, fields) {
  const bytes = items.reduce((sum, item) => sum + bytesOfItem(item), 0);
  return bytes > sentBytesMax ? orderBody(items, fields, ({ size }) => ({ size })) : wholeBody(items, fields);
}

/**
 * The body of an order with the bytes of all contents. Rejects if a file can no longer be read.
 *
 * @param {readonly Item[]} items
 * @param {Fields} fields
 */
export async function wholeBody(items, fields) {
  const contents = /** @type {string[]} */ ([]);
  for (const item of items) {
    if (item.kind === 'delegate') contents.push('');
    else contents.push(base64Of(new Uint8Array(await item.blob.arrayBuffer())));
  }
  return orderBody(items, fields, ({ size, blob }, index) => ({
    size,
    dataURL: `data:${blob.type === '' ? 'application/octet-stream' : blob.type};base64,${contents[index] ?? ''}`,
  }));
}
