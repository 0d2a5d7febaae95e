import type pg from 'pg';
import { checkDestination } from '#kernel/bitcoin/destination.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { type Faulty, faulty } from '#kernel/requests/request-values.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { readAllowed } from './addresses.store.ts';

/** The script of an address to which this account may withdraw, or the reason why it may not. */
export async function accountDestination(
  pool: pg.Pool,
  account: string,
  address: string,
  network: NetworkParameters,
): Promise<Uint8Array | Faulty> {
  const script = await foreignScript(pool, address, network);
  if (!(script instanceof Uint8Array)) return script;
  const allowed = await readAllowed(pool, account);
  if (allowed.length === 0) return script;
  const listed = allowed.find((each) => Buffer.compare(each.script, script) === 0);
  if (listed === undefined)
    return faulty(
      'address',
      'the account does not have this address in its list of withdrawal addresses (GET /tokenpay/user/account/addresses). Add the address to the list, or ask the operator.',
    );
  return listed.counts
    ? script
    : faulty(
        'address',
        `the address is active from ${listed.countsAt.toISOString()} on, because an additional address can be paid only a day after it was added. Wait, withdraw to another address, or ask the operator.`,
      );
}

/** The script of an address that does not belong to this service, or the reason why the address must not be paid. */
export async function foreignScript(
  pool: pg.Pool,
  address: string,
  network: NetworkParameters,
): Promise<Uint8Array | Faulty> {
  const read = readScript(address, network);
  if (!(read instanceof Uint8Array)) return read;
  const own = await ownScriptsAmong(pool, [read]);
  const checked = checkDestination({ script: read, amount: null }, () => own.length > 0);
  return checked.kind === 'refused' ? faulty('address', `the address ${checked.reason}.`) : checked.script;
}

/** The script of an address, or the reason why the address cannot be paid. */
export function readScript(address: string, network: NetworkParameters): Uint8Array | Faulty {
  const read = checkDestination({ address, network, amount: null }, 'later');
  return read.kind === 'refused' ? faulty('address', `the address ${read.reason}.`) : read.script;
}
