/**
 * The part that addresses of one network share: of IPv4 a /24, of IPv6 a /48, which is what one customer of a provider
 * gets.
 */
export function networkOfClient(client: string): string {
  const [whole] = /^(?:\d+\.){3}|^(?:[\da-f]+:){3}/u.exec(client) ?? [client];
  return whole;
}
