import type { FastifyRequest } from 'fastify';
import { InvalidRequest } from '#http/server/errors/invalid-request.ts';

/**
 * The hosts that a URL may have (RFC 3986, 3.2). A host is a name, an IPv4 address, or an IPv6 address in brackets,
 * with an optional port.
 */
const hostForm = /^(?:[a-z0-9](?:[a-z0-9._-]{0,252})|\[[0-9a-f:.]{2,45}\])(?::\d{1,5})?$/iu;

/**
 * The origin at which clients reach this service, for URLs in an answer. It is PUBLIC_URL if set, and otherwise the
 * origin that the request names. A trusted proxy names this origin in X-Forwarded-Host and X-Forwarded-Proto. Throws
 * `request_invalid` for a host that no URL can have.
 */
export function originOf(request: FastifyRequest, publicOrigin: string | null): string {
  if (publicOrigin !== null) return publicOrigin;
  const { host } = request;
  if (!hostForm.test(host))
    throw new InvalidRequest([
      { message: 'Host or X-Forwarded-Host is not the name or address of a host', parameter: 'host' },
    ]);
  return `${isSecure(request, null) ? 'https' : 'http'}://${host}`;
}

/** Origins of URLs of this service: PUBLIC_URL, and the origin that a request names. */
export function ownOriginsOf(request: FastifyRequest, publicOrigin: string | null): readonly string[] {
  const named = hostForm.test(request.host) ? [originOf(request, null)] : [];
  return publicOrigin === null ? named : [publicOrigin, ...named];
}

/** Whether clients reach this service only by https, according to PUBLIC_URL or the proxy of this request. */
export const isSecure = ({ protocol }: FastifyRequest, publicOrigin: string | null): boolean =>
  publicOrigin === null ? protocol === 'https' : publicOrigin.startsWith('https:');
