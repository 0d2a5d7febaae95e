import type { FastifyRequest } from 'fastify';
import { AppError } from '#kernel/errors/app-error.ts';

/** Refuses forms from other sites, because browsers name the site that sends a form. Throws `key_scope`. */
export function refuseOtherSites({ headers }: FastifyRequest, message: string): void {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none')
    throw new AppError('key_scope', message);
}
