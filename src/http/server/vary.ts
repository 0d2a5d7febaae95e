import type { FastifyReply } from 'fastify';

/** Adds request headers to `Vary`. Existing names stay; each is listed once. */
export function varyBy(reply: FastifyReply, ...headers: readonly string[]): void {
  const named = String(reply.getHeader('vary') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = new Set(named.map((name) => name.toLowerCase()));
  const added = headers.filter((name) => !known.has(name.toLowerCase()));
  if (added.length > 0) reply.header('vary', [...named, ...added].join(', '));
}
