import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Scope } from '#accounts/api-key.ts';
import type { Admission, SearchAccess } from '#accounts/search-access.ts';
import { varyBy } from '#http/server/headers/vary.ts';
import type { ErrorCode } from '#kernel/errors/error-codes.ts';
import { addressOfRequest, knowKey } from './client.ts';
import { type Guard, open } from './guard.ts';

/** Kinds of askers, by the guard of their path. */
const askers = {
  scope: 'program',
  owned: 'owner',
  keyed: 'program',
  page: 'page',
  open: 'anybody',
} as const;

/** Headers that state a client's limits; scripts of other origins may read them. */
export const accessHeaders = [
  'Retry-After',
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'X-RateLimit-Reset',
];

/**
 * Enforces the guard of each route before a body is read or a search begins. Register this in a plugin, before the
 * routes, and after CORS, so that pages of other origins can read a refusal.
 */
export function guardRoutes(routes: FastifyInstance, access: SearchAccess): void {
  routes.addHook('onRequest', async (request, reply) => {
    const guard = guardOf(request);
    if (guard.kind === 'none') return;
    const { headers } = request;
    const scope = scopeOf(guard);
    const admission = await access.decide({
      endpoints: guard.endpoints,
      scope,
      asker: askers[guard.kind],
      bucket: guard.bucket,
      apiKey: one(headers['x-api-key']),
      authorization: headers.authorization,
      cookie: headers.cookie,
      origin: headers.origin,
      referer: headers.referer,
      fetchSite: one(headers['sec-fetch-site']),
      host: request.host,
      address: addressOfRequest(request),
    });
    tell(reply, scope, admission);
    if (admission.key.kind === 'known') knowKey(request, admission.key);
    if (admission.refusal !== null) throw admission.refusal;
  });
}

/** The realm of paths that accept any key. */
const anyScope = 'any';

/** Errors that a key, or a different key, would solve (RFC 9110, 11.6.1). */
export const keyFaults: ReadonlySet<ErrorCode> = new Set(['key_missing', 'key_refused', 'key_ambiguous']);
const challengesOf = (scope: Scope | null): string[] => [
  `ApiKey realm="${scope ?? anyScope}", header="x-api-key"`,
  `Bearer realm="${scope ?? anyScope}"`,
];

/** The guard of a request's route. It is `open` if the route has no guard. */
export function guardOf({ routeOptions, query, headers }: FastifyRequest): Guard {
  const { guard = open } = routeOptions.config;
  return typeof guard === 'function'
    ? guard(query as Readonly<Record<string, unknown>>, headers.accept)
    : guard;
}

function scopeOf(guard: Exclude<Guard, { kind: 'none' }>): Scope | null {
  if (guard.kind === 'keyed') return null;
  return guard.kind === 'scope' || guard.kind === 'owned' ? guard.scope : 'search';
}

function tell(reply: FastifyReply, scope: Scope | null, { refusal, rate }: Admission): void {
  // a shared cache must not send one client's answer to a client without access
  varyBy(reply, 'Origin', 'Referer', 'Sec-Fetch-Site', 'x-api-key', 'Authorization', 'Cookie');
  if (refusal !== null && keyFaults.has(refusal.code)) reply.header('www-authenticate', challengesOf(scope));
  if (rate === null) return;
  reply
    .header('x-ratelimit-limit', rate.rate.burst)
    .header('x-ratelimit-remaining', rate.remaining)
    .header('x-ratelimit-reset', Math.ceil(rate.resetMs / 1000));
  if (!rate.isAllowed) reply.header('retry-after', Math.ceil(rate.retryAfterMs / 1000));
}

/** Returns a repeated header as one comma-separated text. Such a text is never a valid key. */
function one(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join(', ') : header;
}
