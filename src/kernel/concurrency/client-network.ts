/**
 * The part that addresses of one network share: a /24 of IPv4, and a /48 of IPv6, which a provider gives to one
 * customer.
 */
export function networkOfClient(client: string): string {
  const [whole] = /^(?:\d+\.){3}|^(?:[\da-f]+:){3}/u.exec(client) ?? [client];
  return whole;
}
