interface Preference {
  readonly quality: number;
  /** Position in the header. If two preferences are equal, the earlier preference wins. */
  readonly place: number;
}

/**
 * The preference for a media type or encoding that the header names explicitly. `null` if the header does not name it;
 * wildcards do not count as names.
 */
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
 * Whether a path that has both a page and JSON answers with JSON. The answer is JSON only if `application/json` is
 * named explicitly and not after `text/html`, as in ord. Clients without a preference get the page.
 */
export function prefersJson(accept: string | undefined): boolean {
  const json = preferenceFor(accept ?? '', 'application/json');
  if (json === null || json.quality === 0) return false;
  const html = preferenceFor(accept ?? '', 'text/html');
  if (html === null || json.quality !== html.quality) return json.quality > (html?.quality ?? 0);
  return json.place < html.place;
}

/** Whether an error is shown as a page. Only clients that accept HTML explicitly, as browsers do, get a page. */
export function prefersHtml(accept: string | undefined): boolean {
  const html = preferenceFor(accept ?? '', 'text/html');
  return html !== null && html.quality > 0 && !prefersJson(accept);
}

/**
 * The encoding that compresses an answer, or null if the answer is not compressed. If the client accepts both encodings
 * equally, brotli is used, because brotli compresses better.
 */
export function acceptedEncoding(acceptEncoding: string | undefined): 'br' | 'gzip' | null {
  const qualityOf = (name: string): number => preferenceFor(acceptEncoding ?? '', name)?.quality ?? 0;
  const [br, gzip] = [qualityOf('br'), qualityOf('gzip')];
  if (br > 0 && br >= gzip) return 'br';
  return gzip > 0 ? 'gzip' : null;
}
