import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { matchesTag } from '#http/server/conditional.ts';
import { varyBy } from '#http/server/vary.ts';
import { assets } from '#web/assets.ts';
import type { Markup } from '#web/html.ts';

/**
 * Our own pages run our one script and style and nothing else. What was inscribed is only ever in frames, which
 * have an origin of their own (docs/http.md, "What was inscribed by others").
 *
 * Both policies must allow what happens. The first one keeps pages to this server; but what was inscribed is of this server
 * too (`/content/…`), and `'self'` knows no paths, nor does a server behind a proxy know its name. So the second one says
 * which paths, of any server.
 */
const pagePolicies = [
  [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self'",
    "frame-src 'self'",
    "connect-src 'self'",
    "object-src 'none'",
    "base-uri 'none'",
    "form-action 'self'",
    "frame-ancestors 'none'",
  ],
  [
    "default-src 'none'",
    `script-src *:*${pathOf(assets.script)}`,
    `style-src *:*${pathOf(assets.style)}`,
    `img-src *:*${pathOf(assets.icon)}`,
    'frame-src *:*/preview/',
    'connect-src *:*/search/suggest',
  ],
].map((directives) => directives.join('; '));

/** Of policies the query is no part. */
function pathOf(address: string): string {
  return address.split('?', 1)[0] ?? address;
}

/** Sends a page, or a 304 where the client has these very bytes already. */
export function sendPage(reply: FastifyReply, page: Markup): FastifyReply {
  varyBy(reply, 'Accept');
  reply
    .header('content-security-policy', pagePolicies)
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cache-control', reply.getHeader('cache-control') ?? 'no-cache');
  if (reply.statusCode === 200) {
    const tag = pageTag(page.text);
    reply.header('etag', tag);
    if (matchesTag(reply.request.headers['if-none-match'], tag)) return reply.code(304).send();
  }
  return reply.type('text/html; charset=utf-8').send(page.text);
}

/**
 * The entity tag of a page is that of its text: it holds whatever the page is made of, newer code too. Weak, because it is the same
 * whatever the encoding.
 */
function pageTag(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}
