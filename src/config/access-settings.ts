import { type Static, Type } from 'typebox';
import { parseAllowedDomains } from '#accounts/allowed-domains.ts';
import { parseRate } from '#accounts/rate.ts';
import { parseTrustedProxies } from '#accounts/trusted-proxies.ts';

/** The form of a rate. Its bounds are checked by `parseRate`. */
const ratePattern = '^[0-9]+(/[0-9]+)?$';

/** Settings of access, and of what one client may use. They are part of the schema of all settings. */
export const accessSettings = {
  searchAccess: Type.Enum(['open', 'restricted', 'keys'], {
    default: 'restricted',
    description:
      'who may search over HTTP: `restricted`: clients with a key, clients from a listed domain, and our pages; `keys`: only clients with a key; `open`: everyone, as in `demo` (docs/access.md)',
  }),
  searchAllowedDomains: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 65_536,
      description:
        'domains whose pages may search without a key, separated by commas: `example.com` is this host, and `*.example.com` all hosts below example.com',
    }),
  ),
  searchAddressRate: Type.String({
    pattern: ratePattern,
    maxLength: 16,
    default: '60000',
    description:
      'searches from one IP address (IPv4, or /64 of IPv6) without a key: `N` at once and per minute, `N/S` at once and in S seconds; 0: no limit, as in `demo`',
  }),
  buildAddressRate: Type.String({
    pattern: ratePattern,
    maxLength: 16,
    default: '60',
    description:
      'requests that scan sats or build transactions (/satscanner, /satextractor) from one IP address without a key, in the form of SEARCH_ADDRESS_RATE; 0: no limit, as in `demo`',
  }),
  unknownKeyRate: Type.String({
    pattern: ratePattern,
    maxLength: 16,
    default: '60',
    description:
      'requests from one IP address with unknown keys of one prefix, in the form of SEARCH_ADDRESS_RATE; 0: no limit. Valid keys are never limited by this',
  }),
  publicUrl: Type.Optional(
    Type.String({
      pattern: '^https?://[^/?#@]+/?$',
      maxLength: 1024,
      description:
        'public URL of the pages, as https://ord.example.com; their searches need no key; unset: any host that a request names',
    }),
  ),
  console: Type.Boolean({
    default: false,
    description:
      'serve the operator’s console at /console, for keys with the scope `admin`: with the role `all`, or `orders` on its own port; the other roles ignore it (docs/console.md)',
  }),
  trustProxy: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 4096,
      description:
        'proxies whose header X-Forwarded-For, or else Forwarded, is trusted: IP addresses and networks, separated by commas (`loopback`, 10.0.0.0/8); unset: none',
    }),
  ),
  connections: Type.Integer({
    minimum: 10,
    maximum: 100_000,
    default: 1000,
    description:
      'maximum number of open connections of clients; each connection needs a file descriptor and some memory',
  }),
  connectionsPerAddress: Type.Integer({
    minimum: 1,
    maximum: 100_000,
    default: 200,
    description:
      'maximum number of these connections from one IP address (IPv4, or /64 of IPv6); proxies of TRUST_PROXY may use all connections',
  }),
  unsentMegabytes: Type.Integer({
    minimum: 32,
    maximum: 100_000,
    default: 128,
    description:
      'memory for responses that clients have not yet received, in MB; one client may use a quarter of this memory. When it is full, large responses are refused with 503',
  }),
};

const schema = Type.Object(accessSettings);

/** Finds contradictions between these settings, and texts that their schema cannot check. */
export function wrongAccessSettings({
  searchAccess,
  searchAllowedDomains,
  trustProxy,
  publicUrl,
  ...rates
}: Static<typeof schema> & { readonly orderRate: string }): string[] {
  const wrong = parseAllowedDomains(searchAllowedDomains ?? '').wrong.map(
    (entry) => `SEARCH_ALLOWED_DOMAINS: ${entry} is not a domain such as example.com or *.example.com`,
  );
  if (searchAccess === 'keys' && searchAllowedDomains !== undefined) {
    wrong.push(
      'SEARCH_ACCESS keys and SEARCH_ALLOWED_DOMAINS exclude each other, because in this mode no domain may search without a key',
    );
  }
  if (trustProxy !== undefined && parseTrustedProxies(trustProxy) === null) {
    wrong.push(`TRUST_PROXY: ${trustProxy} is not a list of IP addresses and networks`);
  }
  for (const [name, text] of Object.entries({
    SEARCH_ADDRESS_RATE: rates.searchAddressRate,
    BUILD_ADDRESS_RATE: rates.buildAddressRate,
    ORDER_RATE: rates.orderRate,
    UNKNOWN_KEY_RATE: rates.unknownKeyRate,
  })) {
    if (parseRate(text) === null)
      wrong.push(`${name}: ${text} is not a rate; N is at most 1000000, and S is from 1 to 86400`);
  }
  if (publicUrl !== undefined && !URL.canParse(publicUrl))
    wrong.push(`PUBLIC_URL: ${publicUrl} is not a URL`);
  return wrong;
}
