import type { FastifyReply, FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { matchesTag } from '#http/server/answers/conditional.ts';
import { textTag } from '#http/server/answers/send-page.ts';
import { originOf } from '#http/server/headers/request-origin.ts';
import type { Answer } from '#http/server/routes/answer-schemas.ts';
import { atomFeed, type Feed } from '#web/feeds/atom.ts';

/**
 * Maximum number of entries of a feed. Readers request a feed about once per hour, and few hours have more than 50
 * blocks, or more than 50 sales of a collection.
 */
export const feedEntries = 50;

export const feedAnswer: Answer = {
  description: 'an Atom feed',
  content: { 'application/atom+xml': { schema: Type.String() } },
};

/**
 * Sends a feed, or 304 if the reader already has it. Paths in the feed are replaced by absolute URLs, because many
 * readers do not resolve relative URLs.
 *
 * @param feed the feed, with paths of this server in place of URLs
 */
export function sendFeed(
  request: FastifyRequest,
  reply: FastifyReply,
  publicOrigin: string | null,
  feed: Omit<Feed, 'self' | 'author'>,
): FastifyReply {
  const origin = originOf(request, publicOrigin);
  const text = atomFeed({
    ...feed,
    author: 'Satscribe',
    self: `${origin}${request.url}`,
    page: `${origin}${feed.page}`,
    entries: feed.entries.map((entry) => ({ ...entry, href: `${origin}${entry.href}` })),
  });
  const tag = textTag(text);
  reply.header('cache-control', reply.getHeader('cache-control') ?? 'no-cache').header('etag', tag);
  if (matchesTag(request.headers['if-none-match'], tag)) return reply.code(304).send();
  return reply.type('application/atom+xml; charset=utf-8').send(text);
}

/**
 * The id of an entry or a feed. It is the same on every instance, whatever the instance's URL, because readers compare
 * only ids. `x-` means that no authority assigned this name.
 */
export const feedId = (network: string, ...parts: readonly string[]): string =>
  ['urn:x-satscribe', network, ...parts.map(encodeURIComponent)].join(':');
