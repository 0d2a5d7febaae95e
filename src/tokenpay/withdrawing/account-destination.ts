import type pg from 'pg';
import { checkDestination } from '#kernel/bitcoin/destination.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { readAllowed } from './addresses.store.ts';
import { faulty } from './asking-faults.ts';

/** The script of an address that this account may withdraw to, or why it may not. */
export async function accountDestination(
  pool: pg.Pool,
  account: string,
  address: string,
  network: NetworkParameters,
): Promise<Uint8Array | Faulty> {
  const read = checkDestination({ address, network, amount: null }, 'later');
  if (read.kind === 'refused') return faulty('address', `the address ${read.reason}.`);
  const { script } = read;
  const own = await ownScriptsAmong(pool, [script]);
  const checked = checkDestination({ script, amount: null }, () => own.length > 0);
  if (checked.kind === 'refused') return faulty('address', `the address ${checked.reason}.`);
  const allowed = await readAllowed(pool, account);
  const isListed = allowed.some((each) => Buffer.compare(each.script, script) === 0);
  return allowed.length === 0 || isListed
    ? script
    : faulty('address', 'the address is not one of those that this account withdraws to: ask the operator.');
}
