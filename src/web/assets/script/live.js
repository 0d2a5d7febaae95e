// Parts of a page that change without a reload: the elements with `data-live`, by the value of that attribute.

/** @param {Readonly<Record<string, string>>} parts the new HTML of each, by name */
export function showParts(parts) {
  for (const place of document.querySelectorAll('[data-live]')) {
    const markup = parts[place.getAttribute('data-live') ?? ''];
    // a part with the focus stays unchanged for its reader
    if (markup === undefined || place.contains(document.activeElement)) continue;
    const made = document.createElement('template');
    // it comes from our own templates, which escape strangers' texts
    made.innerHTML = markup;
    const next = made.content.firstElementChild;
    if (next !== null && next.outerHTML !== place.outerHTML) place.replaceWith(next);
  }
}

/** Listens while the page is shown: a hidden page would only hold a connection. */
export function listenToNews() {
  /** @type {EventSource | null} */
  let source = null;
  const listen = () => {
    if (document.hidden) {
      source?.close();
      source = null;
    } else if (source === null) {
      source = new EventSource('/live');
      source.addEventListener('parts', (event) =>
        showParts(/** @type {Record<string, string>} */ (JSON.parse(event.data))),
      );
    }
  };
  document.addEventListener('visibilitychange', listen);
  // a page that the browser keeps for its back button must have no open connection
  addEventListener('pagehide', () => {
    source?.close();
    source = null;
  });
  addEventListener('pageshow', listen);
  listen();
}
