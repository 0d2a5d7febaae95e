import { isIP } from 'node:net';

/** Ranges with a name. */
const named: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];

/**
 * The proxies whose `X-Forwarded-For` is believed: addresses and networks separated by commas. Null where the text is
 * not such a list. Neither `true` nor a number of proxies is accepted: a client that reaches us without the proxy
 * could then claim any address.
 */
export function parseTrustedProxies(text: string): string[] | null {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every((part) => named.includes(part) || isNetwork(part)) ? parts : null;
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  // no proxy is the whole internet
  return /^[1-9]\d{0,2}$/u.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}
