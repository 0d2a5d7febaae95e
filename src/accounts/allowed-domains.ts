import { domainToASCII } from 'node:url';

/**
 * Hosts whose pages may search without a key. `example.com` allows only that host, and `*.example.com` allows all hosts
 * below `example.com`.
 */
export interface AllowedDomains {
  allows(host: string): boolean;
}

const label = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?';
const hostPattern = new RegExp(`^${label}(?:\\.${label})*$`, 'u');

/** Parses a list separated by commas. Returns the entries that are not domains as `wrong`. */
export function parseAllowedDomains(text: string): { domains: AllowedDomains; wrong: readonly string[] } {
  const hosts = new Set<string>();
  const parents: string[] = [];
  const wrong: string[] = [];
  for (const part of text.split(',')) {
    const entry = part.trim();
    if (entry === '') continue;
    const isParent = entry.startsWith('*.');
    // hosts in the form that browsers send: lower case, and Punycode for other scripts
    const host = /[/\\?#@:]/u.test(entry) ? '' : domainToASCII(isParent ? entry.slice(2) : entry);
    if (!hostPattern.test(host)) wrong.push(entry);
    else if (isParent) parents.push(`.${host}`);
    else hosts.add(host);
  }
  const allows = (host: string): boolean =>
    hosts.has(host) || parents.some((parent) => host.length > parent.length && host.endsWith(parent));
  return { domains: { allows }, wrong };
}

/**
 * The site that a request comes from, as the browser reports it: `Origin`, or `Referer` if there is no `Origin`. `null`
 * if both are missing, or if the value is not an http or https URL.
 */
export function callingSite(
  origin: string | undefined,
  referer: string | undefined,
): { readonly hostname: string; readonly host: string } | null {
  const said = origin ?? referer;
  if (said === undefined || !URL.canParse(said)) return null;
  const { protocol, hostname, host } = new URL(said);
  if (protocol !== 'http:' && protocol !== 'https:') return null;
  return { hostname: hostname.replace(/\.$/u, ''), host };
}
