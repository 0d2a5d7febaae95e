import type { FastifyReply } from 'fastify';

/** Adds to `Vary` what of a request an answer depends on. Headers that are named already stay, each once. */
export function varyBy(reply: FastifyReply, ...headers: readonly string[]): void {
  const named = String(reply.getHeader('vary') ?? '')
    .split(',')
    .map((name) => name.trim())
    .filter((name) => name !== '');
  const known = new Set(named.map((name) => name.toLowerCase()));
  const added = headers.filter((name) => !known.has(name.toLowerCase()));
  if (added.length > 0) reply.header('vary', [...named, ...added].join(', '));
}
