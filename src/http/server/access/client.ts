import type { FastifyInstance, FastifyRequest } from 'fastify';
import { clientOf } from '#accounts/client-address.ts';
import { proxyTest } from '#accounts/trusted-proxies.ts';

const tests = new WeakMap<FastifyInstance['server'], (address: string) => boolean>();
let alone = 0;

/** Makes the trusted proxies of an app known to `isFromProxy` and `clientOfRequest`. */
export function knowProxies(app: FastifyInstance, proxies: readonly string[]): void {
  tests.set(app.server, proxyTest(proxies));
}

/** Whether a request comes from a trusted proxy that names nobody for whom it asks: no limit by address applies. */
export function isFromProxy({ server, ip }: FastifyRequest): boolean {
  return tests.get(server.server)?.(ip) === true;
}

/** Whose share a request counts towards. Of a proxy that names nobody, each request counts alone. */
export function clientOfRequest(request: FastifyRequest): string {
  return isFromProxy(request) ? `proxy ${++alone}` : clientOf(request.ip);
}
