import type { FastifyReply } from 'fastify';
import type { Markup } from '#web/html.ts';

/**
 * Our own pages run our one script and style and nothing else. What was inscribed is only ever in frames, which
 * have an origin of their own (docs/http.md, "What was inscribed by others").
 */
const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ');

export function sendPage(reply: FastifyReply, page: Markup): FastifyReply {
  return reply
    .header('content-security-policy', pagePolicy)
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cache-control', reply.getHeader('cache-control') ?? 'no-cache')
    .header('vary', 'Accept')
    .type('text/html; charset=utf-8')
    .send(page.text);
}
