/** The key of a request: none, one, or two different ones. */
export type GivenKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly key: string; readonly isCookie: boolean }
  | { readonly kind: 'two' };

/** The cookie that keeps the key of a person who searches with our pages. */
export const keyCookie = 'satscribe_key';

const bearer = /^bearer(?:\s+(?<token>[^]*))?$/iu;

/**
 * Reads `x-api-key` and `Authorization: Bearer` (RFC 6750), else our cookie. An empty header counts as no key, and so
 * does another scheme of `Authorization`: a proxy may use its own. The same key in both headers counts as one key.
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

/** The value of our cookie (RFC 6265, 5.4); the first one, where a browser sends several. */
function cookieValue(cookie: string | undefined): string | null {
  for (const pair of cookie?.split(';') ?? []) {
    // 60 kB of semicolons would be 30,000 more lists
    if (!pair.includes(keyCookie)) continue;
    const [name = '', value = ''] = pair.split('=', 2);
    if (name.trim() === keyCookie && value.trim() !== '') return value.trim();
  }
  return null;
}
