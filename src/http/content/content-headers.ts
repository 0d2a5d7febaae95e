import type { StoredContent } from '#chain/inscriptions/content.queries.ts';

/**
 * What keeps inscribed code where it is. ord's two policies, which a recursive inscription is written for, and a third that
 * takes away the origin: whatever runs here has no cookies, no storage, no way to what lies above it, and can
 * fetch nothing but contents and recursive endpoints. All three must allow what happens. The allowlist says the
 * same of connections that policies do not know (WebRTC sends datagrams to anywhere otherwise), where browsers
 * read it; and names that are merely mentioned are not asked for in the DNS.
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

/** An id names its bytes for ever, over reorganisations too: the transaction commits to its script. */
export const immutable = 'public, max-age=1209600, immutable';

/** What `Content-Encoding` a stored body is sent with, or that it cannot be sent to this client. */
export type EncodingChoice =
  | { readonly kind: 'send'; readonly encoding: string | null }
  | { readonly kind: 'refuse'; readonly encoding: string };

/**
 * The rules of ord (src/subcommand/server/{r,accept_encoding}.rs): an encoding that can be no header is dropped and the
 * body sent as it is; one that is not UTF-8 counts as empty, and an empty one is never acceptable; any other
 * must be named by `Accept-Encoding`, whatever its weight.
 */
export function chooseEncoding(stored: Uint8Array | null, accept: string | undefined): EncodingChoice {
  if (stored === null) return { kind: 'send', encoding: null };
  if (!isUtf8(stored) || stored.length === 0) return { kind: 'refuse', encoding: '' };
  const encoding = headerValue(stored);
  if (encoding === null) return { kind: 'send', encoding: null };
  const accepted = (accept ?? '').split(',').map((value) => value.split(';', 1)[0]?.trim());
  // beyond ASCII no client can name it
  const isNameable = /^[\t\x20-\x7e]*$/u.test(encoding);
  if (isNameable && accepted.includes(encoding)) return { kind: 'send', encoding };
  return { kind: 'refuse', encoding: Buffer.from(stored).toString('utf8') };
}

/** The stored content type as a header value; `application/octet-stream` where it can be none. */
export function contentTypeHeader(stored: StoredContent['contentType']): string {
  const fallback = 'application/octet-stream';
  return stored === null || !isUtf8(stored) ? fallback : (headerValue(stored) ?? fallback);
}

/** Bytes as Node writes headers, one character a byte; null where a byte may stand in no header (RFC 9110, 5.5). */
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
