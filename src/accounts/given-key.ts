/** The key of a request: none, one, or two different ones. */
export type GivenKey =
  | { readonly kind: 'none' }
  | { readonly kind: 'one'; readonly key: string }
  | { readonly kind: 'two' };

const bearer = /^bearer(?:\s+(?<token>.*))?$/iu;

/**
 * Reads `x-api-key` and `Authorization: Bearer` (RFC 6750). An empty header counts as no key, and so does another
 * scheme of `Authorization`: a proxy may use its own. The same key in both headers is one key.
 */
export function givenKey(apiKey: string | undefined, authorization: string | undefined): GivenKey {
  const token = bearer.exec(authorization?.trim() ?? '')?.groups?.['token'];
  const [key, other] = [apiKey, token].map((text) => text?.trim() ?? '').filter((text) => text !== '');
  if (key === undefined) return { kind: 'none' };
  return other === undefined || other === key ? { kind: 'one', key } : { kind: 'two' };
}
