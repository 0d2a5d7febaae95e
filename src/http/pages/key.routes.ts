import type { FastifyRequest } from 'fastify';
import { Type } from 'typebox';
import { apiKeyHash } from '#accounts/api-key.ts';
import { keyCookie } from '#accounts/given-key.ts';
import { open } from '#http/server/access/guard.ts';
import { isSecure } from '#http/server/headers/request-origin.ts';
import { bodyLimits, limits } from '#http/server/limits.ts';
import { refuseOtherSites } from '#http/server/requests/other-sites.ts';
import { seeOther } from '#http/server/routes/answer-schemas.ts';
import { apiRoute } from '#http/server/routes/api-route.ts';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * Pattern of a path of this server, in the characters that a header may have. Excludes `//` and `/\`, which browsers
 * read as the start of a host.
 */
const ownPath = '^/(?![/\\\\])[!-~]*$';

const nextPath = Type.String({
  pattern: ownPath,
  maxLength: limits.urlBytes,
  description: 'the path of this server to show next',
});

const body = Type.Object({
  key: Type.String({ description: 'the key', maxLength: 200 }),
  to: Type.Optional(nextPath),
});

/**
 * Routes of the form in which people send their key. A cookie then keeps the key, because pages cannot send headers.
 * The cookie is used only for searches (`SearchAccess`) and the pages of watches, is hidden from scripts, and is never
 * sent with a request from another site.
 */
export function keyRoutes(app: App, { publicOrigin = null }: Pick<AppDependencies, 'publicOrigin'>): void {
  apiRoute(app, {
    method: 'POST',
    url: '/key',
    schema: {
      operationId: 'keepKey',
      summary: 'Keeps a key in a cookie, for searches with our pages',
      tags: ['pages'],
      body,
      response: { 303: seeOther },
    },
    config: { errors: 'plain', guard: open, body: 'form', failures: [401, 403], cors: false },
    bodyLimit: bodyLimits.key,
    handler: async (request, reply) => {
      const { key, to = '/' } = request.body;
      refuseOtherSites(request, 'a form of another site cannot set the key; use the form on this site');
      // an invalid key never becomes a header; whether a valid key is known is checked at each search
      const given = key.trim();
      if (apiKeyHash(given) === null) throw new AppError('key_refused', 'this key is not valid here');
      return reply
        .header('set-cookie', cookieOf(request, publicOrigin, given))
        .header('cache-control', 'no-store')
        .redirect(to, 303);
    },
  });

  apiRoute(app, {
    method: 'POST',
    url: '/key/forget',
    schema: {
      operationId: 'forgetKey',
      summary: 'Removes the cookie with the key',
      tags: ['pages'],
      body: Type.Object({ to: nextPath }),
      response: { 303: seeOther },
    },
    config: { errors: 'plain', guard: open, body: 'form', failures: [403], cors: false },
    bodyLimit: bodyLimits.key,
    handler: async (request, reply) => {
      refuseOtherSites(request, 'a form of another site cannot remove the key; use the form on this site');
      return reply
        .header('set-cookie', `${cookieOf(request, publicOrigin, '')}; Max-Age=0`)
        .header('cache-control', 'no-store')
        .redirect(request.body.to, 303);
    },
  });
}

function cookieOf(request: FastifyRequest, publicOrigin: string | null, value: string): string {
  const secure = isSecure(request, publicOrigin) ? '; Secure' : '';
  return `${keyCookie}=${value}; Path=/; HttpOnly; SameSite=Strict${secure}`;
}
