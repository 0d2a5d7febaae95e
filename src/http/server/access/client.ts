import type { FastifyInstance, FastifyRequest } from 'fastify';
import { clientOf } from '#accounts/client-address.ts';
import { type ForwardedClient, forwardedClient } from '#accounts/forwarded-client.ts';
import { proxyTest } from '#accounts/trusted-proxies.ts';
import { type AskingKey, noKey } from '#kernel/contracts/asking-key.ts';

/** The trusted proxies of an application. */
interface Proxies {
  readonly isProxy: (address: string) => boolean;
  /** Addresses of proxies whose headers were already logged because they name no client. */
  readonly logged: Set<string>;
}

/** Maximum number of characters of a header in the log. */
const shownChars = 100;
/** Maximum number of proxies whose headers are logged. Each proxy is logged once. */
const loggedMax = 100;

const proxies = new WeakMap<FastifyInstance['server'], Proxies>();
const clients = new WeakMap<FastifyRequest['raw'], ForwardedClient>();
const keys = new WeakMap<FastifyRequest['raw'], AskingKey>();

/** Stores the trusted proxies of an application for the functions of this file. */
export function knowProxies(app: FastifyInstance, trusted: readonly string[]): void {
  proxies.set(app.server, { isProxy: proxyTest(trusted), logged: new Set() });
}

/** The IP address of a request's client. If a trusted proxy names no client, it is the IP address of the proxy. */
export function addressOfRequest(request: FastifyRequest): string {
  return clientAt(request).address;
}

/** The client that a request counts for. If a proxy names no client, all its requests count for the proxy. */
export function clientOfRequest(request: FastifyRequest): string {
  return clientOf(addressOfRequest(request));
}

/** Stores the key that a request sent, so that the request's asker has this key. */
export function knowKey(request: FastifyRequest, key: AskingKey): void {
  keys.set(request.raw, key);
}

/** The key that a request sent, if the request's guard has already read the key. */
export function keyOfRequest(request: FastifyRequest): AskingKey {
  return keys.get(request.raw) ?? noKey;
}

function clientAt(request: FastifyRequest): ForwardedClient {
  const known = clients.get(request.raw);
  if (known !== undefined) return known;
  const { headers, socket } = request.raw;
  const of = proxies.get(request.server.server);
  const found = forwardedClient(
    {
      peer: socket.remoteAddress ?? '',
      // Node joins repeated headers with commas
      forwardedFor: headers['x-forwarded-for']?.toString(),
      forwarded: headers.forwarded,
    },
    of?.isProxy ?? (() => false),
  );
  clients.set(request.raw, found);
  if (of !== undefined) tellOfUnnamed(request, found, of);
  return found;
}

function tellOfUnnamed({ log }: FastifyRequest, found: ForwardedClient, { logged }: Proxies): void {
  if (found.kind === 'client' || found.instead === null) return;
  const { address: proxy, instead } = found;
  if (logged.has(proxy) || logged.size >= loggedMax) return;
  logged.add(proxy);
  log.warn(
    { proxy, instead: instead.slice(0, shownChars) },
    'a proxy of TRUST_PROXY names no client in X-Forwarded-For or Forwarded, so all of its requests share the limits of one IP address (docs/access.md, "Rates")',
  );
}
