import type { FastifyRequest } from 'fastify';
import { ownOriginsOf } from '#http/server/headers/request-origin.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { isSameSecret } from '#kernel/same-secret.ts';

/**
 * Checks that a page of this service sent a form. Browsers state it in `Origin`, and over https in `Sec-Fetch-Site`,
 * and no page can change these headers. A request that states neither is refused. Throws `console_form_foreign`.
 */
export function requireOwnOrigin(request: FastifyRequest, publicOrigin: string | null): void {
  const { origin } = request.headers;
  const site = request.headers['sec-fetch-site'];
  const isOwnSite = site === undefined || site === 'same-origin';
  const isOwnOrigin = origin === undefined || ownOriginsOf(request, publicOrigin).some(isSameOrigin(origin));
  if (isOwnSite && isOwnOrigin && (origin ?? site) !== undefined) return;
  throw new AppError(
    'console_form_foreign',
    'This form was not sent by a page of this console, so nothing was done. Open the console in your browser and use its own form.',
  );
}

/** Compares without a usual port, which browsers leave out and `Host` may name. */
const isSameOrigin =
  (origin: string) =>
  (own: string): boolean =>
    URL.canParse(own) && new URL(own).origin === origin;

/** Checks the token of the session in a form. Throws `console_form_foreign`. */
export function requireFormToken(formToken: string, given: string | undefined): void {
  if (isSameSecret(formToken, given ?? '')) return;
  throw new AppError(
    'console_form_foreign',
    'This form belongs to another session, so nothing was done. Open the page again and send its form.',
  );
}
