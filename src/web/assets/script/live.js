// Replaces parts of a page without a reload. The parts are elements with the attribute `data-live`, whose value is the
// name of the part.

/** @param {Readonly<Record<string, string>>} parts the new HTML of each part, by the part's name */
export function showParts(parts) {
  for (const place of document.querySelectorAll('[data-live]')) {
    const markup = parts[place.getAttribute('data-live') ?? ''];
    // a part with the focus is not replaced, because the reader uses it
    if (markup === undefined || place.contains(document.activeElement)) continue;
    const made = document.createElement('template');
    // safe, because the HTML comes from this service's templates, which escape texts of strangers
    made.innerHTML = markup;
    const next = made.content.firstElementChild;
    if (next !== null && next.outerHTML !== place.outerHTML) place.replaceWith(next);
  }
}

/**
 * Listens to news while the page is visible. The connection is closed while the page is hidden, because no one sees the
 * news.
 */
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
  // browsers keep a page for the back button only if the page has no open connection
  addEventListener('pagehide', () => {
    source?.close();
    source = null;
  });
  addEventListener('pageshow', listen);
  listen();
}
