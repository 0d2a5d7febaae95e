import type { FastifyRequest } from 'fastify';
import { isSecure } from '#http/server/headers/request-origin.ts';

/**
 * Name of the cookie. Browsers accept the prefix only from https, so no page that an attacker served over http can set
 * such a cookie. `__Host-` would need the path `/`, and every other page would then receive the cookie.
 */
const nameOf = (isHttps: boolean): string => `${isHttps ? '__Secure-' : ''}satscribe_console`;

/** The secret of the session in the request's cookie. Null: there is no cookie. */
export function secretOfCookie(request: FastifyRequest, publicOrigin: string | null): string | null {
  const name = nameOf(isSecure(request, publicOrigin));
  for (const pair of (request.headers.cookie ?? '').split(';', cookiesMax)) {
    const [key = '', value = ''] = pair.split('=', 2);
    if (key.trim() === name) return value.trim();
  }
  return null;
}

/** Maximum number of cookies to read. Browsers keep at most 180 for a site. */
const cookiesMax = 200;

/** The header that sets the cookie; a secret of '' deletes it. */
export function consoleCookie(request: FastifyRequest, publicOrigin: string | null, secret: string): string {
  const isHttps = isSecure(request, publicOrigin);
  const end = secret === '' ? '; Max-Age=0' : '';
  return `${nameOf(isHttps)}=${secret}; Path=/console; HttpOnly; SameSite=Strict${isHttps ? '; Secure' : ''}${end}`;
}
