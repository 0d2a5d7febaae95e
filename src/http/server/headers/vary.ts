import type { FastifyReply } from 'fastify';

/** Adds request headers to `Vary`. Existing names stay, and each name is listed once. */
export function varyBy(reply: FastifyReply, ...headers: readonly string[]): void {
  let named = String(reply.getHeader('vary') ?? '').trim();
  // each answer runs this two or three times, so the list is only split if a search in its text is not enough
  for (const header of headers) {
    if (!isNamed(named, header)) named += named === '' ? header : `, ${header}`;
  }
  reply.header('vary', named);
}

/** Whether a list of names contains a header, in any letter case. */
function isNamed(names: string, header: string): boolean {
  const lower = header.toLowerCase();
  if (!names.toLowerCase().includes(lower)) return false;
  return names.split(',').some((name) => name.trim().toLowerCase() === lower);
}
