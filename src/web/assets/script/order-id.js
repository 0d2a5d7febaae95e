// The id of an order is a secret, because it opens the order. If someone types or pastes an id into a search box, it
// never leaves the browser: the script puts it after the `#` of the order page's address, which browsers do not send.
// The server knows the same form (resolving/order-id.ts).
const form = /^(?:\S*\/order(?:[#/]|\?id=))?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * The address of the order's page, if the text is an order's id or link. Null: the text is something else.
 *
 * @param {string} text
 * @returns {string | null}
 */
export function orderPageOf(text) {
  const id = form.exec(text.trim())?.[1];
  return id === undefined ? null : `/order#${id.toLowerCase()}`;
}

/**
 * The first characters of an id or of its link, up to at least the first hyphen. Hashes and words have no such hyphens.
 */
const beginning = /^(?:\S*\/order[#/?]|[0-9a-f]{8}-[0-9a-f]{0,4}(?:-[0-9a-f-]*)?$)/i;

/**
 * Whether a text may become an order's id, or a link with an id, when the person has typed more.
 *
 * @param {string} text
 */
export const beginsOrderId = (text) => beginning.test(text.trim());

/**
 * Opens the order instead of a search for the order's id.
 *
 * @param {HTMLInputElement} input
 */
export function keepOrderIds(input) {
  input.form?.addEventListener('submit', (event) => {
    const page = orderPageOf(input.value);
    if (page === null) return;
    event.preventDefault();
    // empty the box, because browsers restore its text, and people photograph it
    input.value = '';
    location.assign(page);
  });
}
