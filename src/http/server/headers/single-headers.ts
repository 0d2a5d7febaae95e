import type { IncomingMessage } from 'node:http';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * Headers with one value that an answer may depend on. If such a header is sent twice, a program between this server
 * and the client may use the other value. Node itself refuses two different values of Content-Length.
 */
const singles: ReadonlySet<string> = new Set([
  'authorization',
  'content-encoding',
  'content-type',
  'host',
  'idempotency-key',
  'if-range',
  'last-event-id',
  'origin',
  'referer',
  'sec-fetch-site',
  'x-api-key',
]);

/** Refuses a request that has two values of one header (for `Host`, see RFC 9112, 3.2). Throws `header_repeated`. */
export function refuseRepeatedHeaders({ rawHeaders }: IncomingMessage): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!singles.has(name)) continue;
    if (seen.has(name)) throw repeated(name);
    seen.add(name);
  }
}

const repeated = (parameter: string): AppError =>
  new AppError('header_repeated', `the header ${parameter} is sent more than once, but only one is allowed`, {
    parameter,
  });
