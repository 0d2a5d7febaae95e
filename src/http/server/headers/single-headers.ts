import type { IncomingMessage } from 'node:http';
import { AppError } from '#kernel/errors/app-error.ts';

/**
 * Headers with one value that an answer may depend on. If one is sent twice, a program between us and the client may
 * go by the other value than we do. Node refuses lengths that differ itself.
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

/** A name or an address, and a port (RFC 3986, 3.2.2). Names with other signs exist in no DNS. */
const hostPattern = /^(?:[\w.~%-]*|\[[0-9a-f:.]+\])(?::\d{0,5})?$/iu;
/** The longest name of the DNS, with a port. */
const hostCharsMax = 260;

/** Refuses a request with two values of one header, or with no host in `Host` (RFC 9112, 3.2). Throws `header_invalid`. */
export function refuseAmbiguousHeaders({ rawHeaders, headers }: IncomingMessage): void {
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? '';
    if (!singles.has(name)) continue;
    if (seen.has(name)) throw invalid(name, 'is sent more than once: send it once');
    seen.add(name);
  }
  const { host = '' } = headers;
  if (host.length > hostCharsMax || !hostPattern.test(host))
    throw invalid('host', 'is not a host name or an address, with or without a port');
}

const invalid = (parameter: string, why: string): AppError =>
  new AppError('header_invalid', `the header ${parameter} ${why}`, { parameter });
