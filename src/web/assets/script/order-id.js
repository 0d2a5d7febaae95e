// The id of an order is a secret that opens the order. If it is typed or pasted into a search box, it never leaves the
// browser: it goes after the `#` of the order page's address, which browsers do not send. The server knows the same
// form (resolving/order-id.ts).
const form = /^(?:\S*\/order(?:[#/]|\?id=))?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * The page of an order whose id or link is the given text. Null: the text is something else.
 *
 * @param {string} text
 * @returns {string | null}
 */
export function orderPageOf(text) {
  const id = form.exec(text.trim())?.[1];
  return id === undefined ? null : `/order#${id.toLowerCase()}`;
}

/** The beginning of an id, from the first hyphen: hashes and words have no such hyphens. */
const beginning = /^(?:\S*\/order[#/?]|[0-9a-f]{8}-[0-9a-f]{0,4}(?:-[0-9a-f-]*)?$)/i;

/**
 * Whether a text may become the id of an order, or a link with one.
 *
 * @param {string} text
 */
export const beginsOrderId = (text) => beginning.test(text.trim());

/**
 * Opens the order in place of a search for its id.
 *
 * @param {HTMLInputElement} input
 */
export function keepOrderIds(input) {
  input.form?.addEventListener('submit', (event) => {
    const page = orderPageOf(input.value);
    if (page === null) return;
    event.preventDefault();
    // removed from the box, which browsers restore and people photograph
    input.value = '';
    location.assign(page);
  });
}
