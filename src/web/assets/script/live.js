// Parts of a page that change without a reload: the elements with `data-live`, by its value.

/** @param {Readonly<Record<string, string>>} parts the new HTML of each, by name */
export function showParts(parts) {
  for (const place of document.querySelectorAll('[data-live]')) {
    const markup = parts[place.getAttribute('data-live') ?? ''];
    // who reads or tabs through a part keeps it as it is
    if (markup === undefined || place.contains(document.activeElement)) continue;
    const made = document.createElement('template');
    // from our own templates, which escape what strangers wrote
    made.innerHTML = markup;
    const next = made.content.firstElementChild;
    if (next !== null && next.outerHTML !== place.outerHTML) place.replaceWith(next);
  }
}

/** Listens while the page is shown: a hidden one would only hold a connection. */
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
  // a page that the browser keeps for the way back has no open connection
  addEventListener('pagehide', () => {
    source?.close();
    source = null;
  });
  addEventListener('pageshow', listen);
  listen();
}
