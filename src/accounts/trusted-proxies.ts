import { isIP } from 'node:net';

/** Ranges that have a name. */
const named: readonly string[] = ['loopback', 'linklocal', 'uniquelocal'];

/**
 * Whom to believe `X-Forwarded-For`: addresses and networks with commas between. Null where the text is no such list. Neither `true`
 * nor a number of proxies is a choice: whoever reaches us without the proxy could then say who it is.
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
  // the whole of the internet is nobody's proxy
  return /^[1-9]\d{0,2}$/u.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}
