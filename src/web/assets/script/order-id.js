// The form of an order id, or of a link with an id. An id is a secret, because it opens the order. If someone types or
// pastes an id into a search box, the id never leaves the browser. The script puts it after the `#` in the URL of the
// order page, because browsers do not send this part. The server knows the same form (resolving/order-id.ts).
const form = /^(?:\S*\/order(?:[#/]|\?id=))?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})$/i;

/**
 * The URL of the order's page, if the text is an order id or a link with an id. The result is null for any other text.
 *
 * @param {string} text
 * @returns {string | null}
 */
export function orderPageOf(text) {
  const id = form.exec(text.trim())?.[1];
  return id === undefined ? null : `/order#${id.toLowerCase()}`;
}

/**
 * The beginning of an id or of its link, at least up to the first hyphen. Hashes and words do not have such hyphens.
 */
const beginning = /^(?:\S*\/order[#/?]|[0-9a-f]{8}-[0-9a-f]{0,4}(?:-[0-9a-f-]*)?$)/i;

/**
 * Whether a text may become an order id, or a link with an id, if the person continues typing.
 *
 * @param {string} text
 */
export const beginsOrderId = (text) => beginning.test(text.trim());

/**
 * Opens the order's page if the text in the search box is an order id. No search is made.
 *
 * @param {HTMLInputElement} input
 */
export function keepOrderIds(input) {
  input.form?.addEventListener('submit', (event) => {
    const page = orderPageOf(input.value);
    if (page === null) return;
    event.preventDefault();
    // the box is emptied, because browsers restore its text, and people take photos of the screen
    input.value = '';
    location.assign(page);
  });
}
