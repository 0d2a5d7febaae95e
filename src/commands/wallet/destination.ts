import { checkDestination } from '#kernel/bitcoin/destination.ts';
import { type NetworkName, networks } from '#kernel/primitives/network.ts';
import { UsageError } from '#src/app/command-context.ts';
import type { NamedDestination } from '#src/app/ordering/foreign-destination.ts';

/**
 * Reads the address of a flag. Throws a UsageError, in which `whose` tells where the network comes from.
 *
 * @param flag the flag that contains the address
 */
export function readDestination(
  to: string,
  network: NetworkName,
  whose: 'kit' | 'wallet',
  flag = '--to',
): NamedDestination {
  const checked = checkDestination({ address: to, network: networks[network], amount: null }, 'later');
  if (checked.kind === 'script') return { to, script: checked.script };
  throw new UsageError(
    `${flag} ${to} cannot be used: the address ${checked.reason}, and the ${whose} is of ${network}`,
  );
}
