import { BlockList, isIPv4, isIPv6 } from 'node:net';

/*
 * IP networks that a stranger's URL must not lead to. This server has rights, and reaches networks, that the stranger
 * does not have. The list comes from IANA's registries of special addresses (RFC 6890 and later).
 */

const refused4 = [
  // "this network", private, carrier-grade NAT, loopback, link-local
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.168.0.0/16',
  // protocol assignments, documentation, 6to4 relays, benchmarks
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  // multicast, reserved and broadcast
  '224.0.0.0/4',
  '240.0.0.0/4',
];
const refused6 = [
  '::/128',
  '::1/128',
  // local translation, discard, Teredo, benchmarks, documentation, segment routing
  '64:ff9b:1::/48',
  '100::/64',
  '2001::/32',
  '2001:2::/48',
  '2001:db8::/32',
  '3fff::/20',
  '5f00::/16',
  // unique local, link-local, site-local, multicast
  'fc00::/7',
  'fe80::/10',
  'fec0::/10',
  'ff00::/8',
];

/** Networks of IPv6 addresses that contain an IPv4 address, with the number of 16-bit groups before it. */
const carriers: readonly { readonly network: readonly number[]; readonly groupsBefore: number }[] = [
  // mapped, translated, and compatible
  { network: [0, 0, 0, 0, 0, 0xffff], groupsBefore: 6 },
  { network: [0, 0, 0, 0, 0xffff, 0], groupsBefore: 6 },
  { network: [0, 0, 0, 0, 0, 0], groupsBefore: 6 },
  // NAT64
  { network: [0x64, 0xff9b, 0, 0, 0, 0], groupsBefore: 6 },
  // 6to4
  { network: [0x2002], groupsBefore: 1 },
];

const list = new BlockList();
for (const [networks, family] of [
  [refused4, 'ipv4'],
  [refused6, 'ipv6'],
] as const) {
  for (const network of networks) {
    const [address = '', bits = ''] = network.split('/');
    list.addSubnet(address, Number(bits), family);
  }
}

/**
 * Whether an IP address belongs to the public network. If an IPv6 address contains an IPv4 address, the IPv4 address
 * must be public, too. Returns false for text that is not an IP address.
 */
export function isPublicAddress(address: string): boolean {
  if (isIPv4(address)) return !list.check(address, 'ipv4');
  // an address with a zone is only valid on a local link
  if (!isIPv6(address) || address.includes('%') || list.check(address, 'ipv6')) return false;
  const groups = groupsOf(address);
  return carriers.every(({ network, groupsBefore }) => {
    if (network.some((group, place) => groups[place] !== group)) return true;
    const bytes = groups.slice(groupsBefore, groupsBefore + 2).flatMap((group) => [group >> 8, group & 255]);
    return !list.check(bytes.join('.'), 'ipv4');
  });
}

/** The eight groups of a valid IPv6 address. The URL parser first converts it to lower case without an IPv4 part. */
function groupsOf(address: string): number[] {
  const written = new URL(`http://[${address}]/`).hostname.slice(1, -1);
  const [before = '', after] = written.split('::');
  const parse = (text: string): number[] =>
    text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16));
  const first = parse(before);
  if (after === undefined) return first;
  const last = parse(after);
  return [...first, ...Array.from({ length: 8 - first.length - last.length }, () => 0), ...last];
}
