import type { StoredContent } from '#chain/inscriptions/content.queries.ts';

/**
 * Headers that isolate inscribed code. The first two policies are ord's, because recursive inscriptions are written for
 * them. The third policy removes the origin. Code that runs here therefore has no cookies, no storage and no access to
 * the surrounding page. It can fetch only contents and recursive endpoints. An action is allowed only if all three
 * policies allow it.
 *
 * The allowlist sets the same rules for connections that policies do not cover, in browsers that support it; WebRTC
 * could otherwise send datagrams anywhere. `x-dns-prefetch-control` stops browsers from resolving names of linked hosts
 * in advance.
 */
export const inscribedHeaders = {
  'content-security-policy': [
    "default-src 'self' 'unsafe-eval' 'unsafe-inline' data: blob:",
    "default-src *:*/content/ *:*/blockheight *:*/blockhash *:*/blockhash/ *:*/blocktime *:*/r/ 'unsafe-eval' 'unsafe-inline' data: blob:",
    'sandbox allow-scripts',
  ],
  'connection-allowlist': '(response-origin)',
  'x-dns-prefetch-control': 'off',
};

/**
 * Headers of a stranger's file that is not on the chain. Browsers save the file; they do not show or run it. The policy
 * is for browsers that ignore the disposition. Characters that could make the file's name look like another name are
 * replaced.
 */
export const downloadHeaders = (name: string) => ({
  'content-disposition': `attachment; filename="${name.replace(/[^\w.-]/gu, '_')}"`,
  'content-security-policy': "default-src 'none'; form-action 'none'; frame-ancestors 'none'; sandbox",
  'x-dns-prefetch-control': 'off',
});

/**
 * Cache rule of contents in blocks. An id always names the same bytes, even after reorganisations, because the txid
 * commits to the script.
 */
export const immutable = 'public, max-age=1209600, immutable';

/** Whether this client can receive a stored body. If so, with which `Content-Encoding`. */
export type EncodingChoice =
  | { readonly kind: 'send'; readonly encoding: string | null }
  | { readonly kind: 'refuse'; readonly encoding: string };

/**
 * Chooses the encoding by ord's rules (src/subcommand/server/{r,accept_encoding}.rs). If the stored encoding is not
 * valid in a header, the body is sent without it. An encoding that is not UTF-8 counts as empty, and an empty encoding
 * is never accepted. Any other encoding must be in `Accept-Encoding`, with any weight.
 */
export function chooseEncoding(stored: Uint8Array | null, accept: string | undefined): EncodingChoice {
  if (stored === null) return { kind: 'send', encoding: null };
  if (!isUtf8(stored) || stored.length === 0) return { kind: 'refuse', encoding: '' };
  const encoding = headerValue(stored);
  if (encoding === null) return { kind: 'send', encoding: null };
  const accepted = (accept ?? '').split(',').map((value) => value.split(';', 1)[0]?.trim());
  // a client can name only encodings in ASCII
  const isNameable = /^[\t\x20-\x7e]*$/u.test(encoding);
  if (isNameable && accepted.includes(encoding)) return { kind: 'send', encoding };
  return { kind: 'refuse', encoding: Buffer.from(stored).toString('utf8') };
}

/** Whether a stored encoding can be sent as `Content-Encoding`. If not, the body is sent without it or not at all. */
export function isSentEncoded(stored: Uint8Array): boolean {
  return isUtf8(stored) && stored.length > 0 && headerValue(stored) !== null;
}

/** The stored content type as a header value. `application/octet-stream` if it is not valid in a header. */
export function contentTypeHeader(stored: StoredContent['contentType']): string {
  const fallback = 'application/octet-stream';
  return stored === null || !isUtf8(stored) ? fallback : (headerValue(stored) ?? fallback);
}

/**
 * Converts bytes to Node's form of a header, one character per byte. Returns null if a byte is not allowed in a header
 * (RFC 9110, 5.5).
 */
function headerValue(bytes: Uint8Array): string | null {
  const isAllowed = (byte: number): boolean => byte === 0x09 || (byte >= 0x20 && byte !== 0x7f);
  return bytes.every(isAllowed) ? Buffer.from(bytes).toString('latin1') : null;
}

function isUtf8(bytes: Uint8Array): boolean {
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    return true;
  } catch {
    return false;
  }
}
