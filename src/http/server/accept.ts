interface Preference {
  readonly quality: number;
  /** Place in the header: among equals the earlier one is meant first. */
  readonly place: number;
}

/** The preference for a media type that is named itself; null where it is not (wildcards do not count). */
function preferenceFor(accept: string, type: string): Preference | null {
  for (const [place, part] of accept.split(',').entries()) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim().toLowerCase());
    if (name !== type) continue;
    const q = parameters.find((parameter) => parameter.startsWith('q='));
    const quality = q === undefined ? 1 : Number(q.slice(2));
    return { quality: Number.isFinite(quality) ? quality : 0, place };
  }
  return null;
}

/**
 * Whether a path that has both a page and JSON answers with JSON: only where `application/json` is asked for by
 * name and not after `text/html` (as ord does it). Clients that say nothing, or take anything, get the page.
 */
export function prefersJson(accept: string | undefined): boolean {
  const json = preferenceFor(accept ?? '', 'application/json');
  if (json === null || json.quality === 0) return false;
  const html = preferenceFor(accept ?? '', 'text/html');
  if (html === null || json.quality !== html.quality) return json.quality > (html?.quality ?? 0);
  return json.place < html.place;
}

/** Whether an error is shown as a page: only to those who ask for HTML by name, as browsers do. */
export function prefersHtml(accept: string | undefined): boolean {
  const html = preferenceFor(accept ?? '', 'text/html');
  return html !== null && html.quality > 0 && !prefersJson(accept);
}
