import { type LookupAddress, lookup as lookUp, Resolver } from 'node:dns';

/** Both tries of a question together are shorter than the timeout of a connection. */
const patience = { timeout: 1_500, tries: 2 };

type Callback = (error: NodeJS.ErrnoException | null, found: LookupAddress[]) => void;

/**
 * Asks name servers for all addresses of a name: a stand-in for `dns.lookup` with `all`. The system's look-up has two
 * threads for the whole process, so names of a stranger whose servers are slow would delay every other one. Names that
 * only this machine knows (/etc/hosts) are not found.
 *
 * @param servers absent: those of the system; for tests
 */
export function nameServers(servers?: readonly string[]): typeof lookUp {
  return ((hostname: string, _options: object, callback: Callback): void => {
    // one for each question: it reads the present name servers
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
        // IPv4 addresses first: not every machine can reach IPv6 addresses
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
