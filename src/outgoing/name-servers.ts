import { type LookupAddress, lookup as lookUp, Resolver } from 'node:dns';

/** Timeout and number of tries of a DNS query. Both tries together are shorter than the timeout of a connection. */
const patience = { timeout: 1_500, tries: 2 };

type Callback = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;

/**
 * Queries name servers for all IP addresses of a host name. It replaces `dns.lookup` with the option `all`. The
 * system's look-up has two threads for the whole process. If a stranger's name servers were slow, all other look-ups
 * would wait. Names that only this machine knows (/etc/hosts) are not found.
 *
 * @param servers name servers for tests. Absent: the name servers of the system.
 */
export function nameServers(servers?: readonly string[]): typeof lookUp {
  return ((hostname: string, _options: object, callback: Callback): void => {
    // a new resolver for each query, because it reads the current name servers of the system
    const resolver = new Resolver(patience);
    if (servers !== undefined) resolver.setServers(servers);
    const found: LookupAddress[] = [];
    let problem: NodeJS.ErrnoException | null = null;
    let left = 2;
    const answered =
      (family: 4 | 6) =>
      (error: NodeJS.ErrnoException | null, addresses: string[] | undefined): void => {
        problem ??= error;
        found.push(...(addresses ?? []).map((address) => ({ address, family })));
        left--;
        if (left > 0) return;
        // IPv4 addresses come first, because not every machine can reach IPv6 addresses
        if (found.length > 0)
          callback(
            null,
            found.toSorted((one, other) => one.family - other.family),
          );
        else callback(problem, []);
      };
    resolver.resolve4(hostname, answered(4));
    resolver.resolve6(hostname, answered(6));
  }) as unknown as typeof lookUp;
}
