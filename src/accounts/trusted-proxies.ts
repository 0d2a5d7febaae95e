import { BlockList, isIP } from 'node:net';

/** Names of address ranges that Fastify knows. */
const named: Readonly<Record<string, readonly string[]>> = {
  loopback: ['127.0.0.1/8', '::1/128'],
  linklocal: ['169.254.0.0/16', 'fe80::/10'],
  uniquelocal: ['10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', 'fc00::/7'],
};

/**
 * Parses the list of proxies whose `X-Forwarded-For` is believed: addresses and networks separated by commas. Returns
 * `null` if the text is not such a list. `true` and a number of proxies are not accepted, because a client that reaches
 * us without the proxy could then claim any address.
 */
export function parseTrustedProxies(text: string): string[] | null {
  const parts = text.split(',').map((part) => part.trim());
  return parts.every((part) => Object.hasOwn(named, part) || isNetwork(part)) ? parts : null;
}

/** Returns a function that tells whether an address belongs to one of the proxies. */
export function proxyTest(proxies: readonly string[]): (address: string) => boolean {
  if (proxies.length === 0) return () => false;
  const list = new BlockList();
  for (const network of proxies.flatMap((proxy) => named[proxy] ?? [proxy])) {
    const [address = '', prefix] = network.split('/');
    const isV4 = isIP(address) === 4;
    list.addSubnet(
      address,
      prefix === undefined ? (isV4 ? 32 : 128) : Number(prefix),
      isV4 ? 'ipv4' : 'ipv6',
    );
  }
  // a zone (fe80::1%eth0) has a meaning only on this machine, so it is removed
  return (address) => {
    const [bare = ''] = address.split('%', 1);
    return list.check(bare, isIP(bare) === 6 ? 'ipv6' : 'ipv4');
  };
}

function isNetwork(text: string): boolean {
  const [address = '', prefix, ...rest] = text.split('/');
  const version = isIP(address);
  if (version === 0 || rest.length > 0) return false;
  if (prefix === undefined) return true;
  // a prefix of 0 would be the whole internet
  return /^[1-9]\d{0,2}$/u.test(prefix) && Number(prefix) <= (version === 4 ? 32 : 128);
}
