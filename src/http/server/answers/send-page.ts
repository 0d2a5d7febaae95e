import { createHash } from 'node:crypto';
import type { FastifyReply } from 'fastify';
import { varyBy } from '#http/server/headers/vary.ts';
import type { Markup } from '#web/html.ts';
import { withSharing } from '#web/parts/sharing-tags.ts';
import { matchesTag } from './conditional.ts';
import { sharingOfRequest } from './sharing.ts';
import { publicOriginOfApp } from './site.ts';

/**
 * The content policies of a page. Our own pages run only our own script and style. Inscribed content appears only in
 * frames, which have a separate origin (docs/contents.md, "What was inscribed by others").
 *
 * An action needs the permission of both policies. The first policy restricts pages to this server. But inscribed
 * content is on this server too (`/content/…`), and `'self'` cannot name paths. A server behind a proxy does not know
 * its own name, so the second policy lists the allowed paths on any server.
 */
const policiesOf = ({ thumbnails = false, connects = [], challenge = false }: PageOptions): string[] => {
  const pictures = thumbnails ? [thumbnailPath] : [];
  const others = challenge ? ` ${challengeOrigin}` : '';
  return [
    [
      "default-src 'none'",
      `script-src 'self'${others}`,
      "style-src 'self'",
      "font-src 'self'",
      "img-src 'self'",
      `frame-src 'self'${others}`,
      "connect-src 'self'",
      "manifest-src 'self'",
      "object-src 'none'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
    ],
    [
      "default-src 'none'",
      `script-src *:*/assets/${others}`,
      'style-src *:*/assets/',
      'font-src *:*/assets/',
      `img-src ${paths(['/assets/', ...pictures])}`,
      `frame-src *:*/preview/${others}`,
      `connect-src ${paths(['/search/suggest', ...connects])}`,
      'manifest-src *:*/manifest.webmanifest',
    ],
  ].map((directives) => directives.join('; '));
};

const paths = (names: readonly string[]): string => names.map((name) => `*:*${name}`).join(' ');

/** Path of thumbnails. This server draws thumbnails pixel by pixel, so they never contain inscribed bytes unchanged. */
const thumbnailPath = '/thumbnails/';

/** Origin of Turnstile's script and of the frame of its challenge (developers.cloudflare.com/turnstile, "CSP"). */
const challengeOrigin = 'https://challenges.cloudflare.com';

export interface PageOptions {
  /** True if the page shows thumbnails. */
  readonly thumbnails?: boolean;
  /**
   * Paths that the page's scripts may request, in addition to suggestions. A path that ends with `/` includes all paths
   * below it.
   */
  readonly connects?: readonly string[];
  /** True if the page shows a challenge of Turnstile. Our pages load no other content from another server. */
  readonly challenge?: boolean;
}

const noOptions: PageOptions = {};
const plainPolicies = policiesOf(noOptions);

/** Sends a page, or 304 if the client already has the same bytes. */
export function sendPage(reply: FastifyReply, made: Markup, options: PageOptions = noOptions): FastifyReply {
  varyBy(reply, 'Accept');
  const isError = reply.statusCode >= 400;
  const page = withSharing(made, sharingOfRequest(reply.request, isError, publicOriginOfApp(reply)));
  const policies = options === noOptions ? plainPolicies : policiesOf(options);
  reply
    .header('content-security-policy', policies)
    .header('cross-origin-opener-policy', 'same-origin')
    .header('cache-control', reply.getHeader('cache-control') ?? 'no-cache');
  if (reply.statusCode === 200) {
    const tag = textTag(page.text);
    reply.header('etag', tag);
    if (matchesTag(reply.request.headers['if-none-match'], tag)) return reply.code(304).send();
  }
  return reply.type('text/html; charset=utf-8').send(page.text);
}

/**
 * The entity tag of a text. It is a hash, so it changes with any change of the text, even if newer code made the
 * change. It is weak, because all encodings share it.
 */
export function textTag(text: string): string {
  return `W/"${createHash('sha256').update(text).digest('base64url').slice(0, 27)}"`;
}
