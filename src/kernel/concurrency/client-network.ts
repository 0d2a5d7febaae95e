/**
 * The prefix that all IP addresses of a client's network have. It is a /24 of IPv4, or a /48 of IPv6, which a provider
 * gives to one customer.
 */
export function networkOfClient(client: string): string {
  const [whole] = /^(?:\d+\.){3}|^(?:[\da-f]+:){3}/u.exec(client) ?? [client];
  return whole;
}
