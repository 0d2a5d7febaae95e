/** The key that a request sends: none, one, or two different keys. */
export type GivenKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly key: string; readonly isCookie: boolean }
  | { readonly kind: 'two' };

/** Name of the cookie that keeps the key of a person who searches with our pages. */
export const keyCookie = 'satscribe_key';

const bearer = /^bearer(?:\s+(?<token>[^]*))?$/iu;

/**
 * Reads the key from `x-api-key` and `Authorization: Bearer` (RFC 6750), or from our cookie if no header has a key. An
 * empty header counts as no key. Another scheme of `Authorization` also counts as no key, because a proxy may use that
 * header for itself. The same key in both headers counts as one key.
 */
export function givenKey(
  apiKey: string | undefined,
  authorization: string | undefined,
  cookie: string | undefined,
): GivenKey {
  const token = bearer.exec(authorization?.trim() ?? '')?.groups?.['token'];
  const [key, other] = [apiKey, token].map((text) => text?.trim() ?? '').filter((text) => text !== '');
  if (key === undefined) {
    const kept = cookieValue(cookie);
    return kept === null ? { kind: 'none' } : { kind: 'one', key: kept, isCookie: true };
  }
  return other === undefined || other === key ? { kind: 'one', key, isCookie: false } : { kind: 'two' };
}

/**
 * Returns the value of our cookie (RFC 6265, 5.4). If a browser sends the cookie several times, the first value is
 * used.
 */
function cookieValue(cookie: string | undefined): string | null {
  for (const pair of cookie?.split(';') ?? []) {
    // skip other pairs: 60 kB of semicolons would otherwise be split into 30,000 more lists
    if (!pair.includes(keyCookie)) continue;
    const [name = '', value = ''] = pair.split('=', 2);
    if (name.trim() === keyCookie && value.trim() !== '') return value.trim();
  }
  return null;
}
