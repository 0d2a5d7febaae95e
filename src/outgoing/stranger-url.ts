import { isIP } from 'node:net';
import { AppError } from '#kernel/errors/app-error.ts';
import { isPublicAddress } from './public-address.ts';

/** Ports above 1023 that browsers refuse, because the ports belong to other protocols (Fetch Standard, "bad port"). */
const refusedPorts: ReadonlySet<number> = new Set([
  1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669, 6679, 6697,
  10_080,
]);
const lowPorts: ReadonlySet<number> = new Set([80, 443]);
const firstFreePort = 1024;

/**
 * Checks a stranger's URL before it is stored. Returns the reason why the URL will never be requested, in words that
 * follow "the URL". Returns null if the check finds no reason. The IP addresses of the host name are checked at each
 * request.
 */
export function urlProblem(url: string, options: { readonly allowPrivate?: boolean } = {}): string | null {
  try {
    judge(parseTarget(url).url, options);
    return null;
  } catch (error) {
    if (error instanceof AppError) return error.message.replace(/^The URL /u, '').replace(/\.$/u, '');
    throw error;
  }
}

/** Visible ASCII characters without the backslash, because the URL parser treats a backslash as a slash. */
const plainUrl = /^https?:\/\/[^/?#]+(?<path>[^#]*)/iu;
const plainCharacters = /^[!-[\]-~]*$/u;

/**
 * Splits a URL into the parsed URL and its path with the query. The path and the query are sent as written, if HTTP
 * allows their characters. The URL parser would encode some characters and drop others, and receivers put tokens there.
 * Throws `url_refused`.
 */
export function parseTarget(text: string): { url: URL; path: string } {
  if (!URL.canParse(text)) throw refused('is not a URL');
  const url = new URL(text);
  const written = plainCharacters.test(text) ? plainUrl.exec(text)?.groups?.['path'] : undefined;
  const path = written ?? `${url.pathname}${url.search}`;
  return { url, path: path.startsWith('/') ? path : `/${path}` };
}

/**
 * Names that are reserved for one machine or for a private network: RFC 6761 (localhost), RFC 6762 (local), RFC 8375
 * (home.arpa) and ICANN's resolution 2024.07.29.06 (internal). Public name servers do not know them.
 */
const privateName = /(?:^|\.)(?:localhost|local|internal|home\.arpa)\.?$/iu;

/**
 * Checks a parsed URL. Throws `url_refused` if the URL must not be requested. The URL parser has already converted
 * addresses such as `0x7f.1` to 127.0.0.1.
 */
export function judge(
  { protocol, username, password, hostname, port }: URL,
  { allowPrivate = false } = {},
): void {
  if (protocol !== 'http:' && protocol !== 'https:') throw refused('is neither http nor https');
  if (username !== '' || password !== '') throw refused('contains a user or a password');
  if (allowPrivate) return;
  if (!isWebPort(port)) throw refused('has a port that does not belong to the web');
  if (privateName.test(hostname)) throw refused('has a name of a private network');
  const address = hostname.replace(/^\[|\]$/gu, '');
  // the addresses of a host name are checked when the name is resolved
  if (isIP(address) !== 0 && !isPublicAddress(address))
    throw refused('leads to an IP address that is not public');
}

/** @param port port of the URL. Empty: the default port of the scheme. */
function isWebPort(port: string): boolean {
  const number = Number(port);
  return port === '' || lowPorts.has(number) || (number >= firstFreePort && !refusedPorts.has(number));
}

/** The target of a redirect. Throws `url_refused`. */
export function redirectedTo(location: string, from: string): string {
  if (!URL.canParse(location, from)) throw refused('leads to a target that is not a URL');
  const { href, protocol } = new URL(location, from);
  if (protocol === 'http:' && new URL(from).protocol === 'https:') throw refused('leads from https to http');
  return href;
}

export const refused = (why: string): AppError => new AppError('url_refused', `The URL ${why}.`);
