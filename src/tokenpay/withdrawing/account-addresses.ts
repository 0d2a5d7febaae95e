import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { type NetworkParameters, networks } from '#kernel/primitives/network.ts';
import type { Faulty } from '#kernel/requests/request-values.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';
import { foreignScript, readScript } from './account-destination.ts';
import {
  type AllowedAddress,
  addressesMax,
  deleteAddress,
  listAddress,
  readAllowed,
} from './addresses.store.ts';

interface AddressesParts {
  /** Connections of the role that handles requests. */
  readonly pool: pg.Pool;
  /** The wallet, or null if there is no wallet yet. */
  readonly wallet: () => Promise<WalletIdentity | null>;
}

/** An address in the form of responses. */
export type ListedAddress = ReturnType<typeof listedAnswer>;

/** Addresses to which an account may withdraw. The keys of the account can read and change them. */
export class AccountAddresses {
  readonly #parts: AddressesParts;

  constructor(parts: AddressesParts) {
    this.#parts = parts;
  }

  /** All addresses of an account, the oldest first. If the list is empty, the account may withdraw to any address. */
  async list(account: string): Promise<ListedAddress[]> {
    return (await readAllowed(this.#parts.pool, account)).map(listedAnswer);
  }

  /**
   * Adds an address. An address that is already listed stays unchanged. Throws `orders_off` and
   * `tokenpay_addresses_max`.
   */
  async add(account: string, address: string): Promise<{ kind: 'listed'; listed: ListedAddress } | Faulty> {
    const { pool } = this.#parts;
    const script = await foreignScript(pool, address, await this.#network());
    if (!(script instanceof Uint8Array)) return script;
    const listed = await listAddress(pool, { account, address, script });
    if (listed === null)
      throw new AppError(
        'tokenpay_addresses_max',
        `the account already has ${addressesMax} addresses, which is the maximum; delete one of them first`,
      );
    return { kind: 'listed', listed: listedAnswer(listed) };
  }

  /** Deletes an address. Throws `orders_off`, `not_found` and `tokenpay_address_last`. */
  async delete(account: string, address: string): Promise<{ kind: 'deleted' } | Faulty> {
    const script = readScript(address, await this.#network());
    if (!(script instanceof Uint8Array)) return script;
    const outcome = await deleteAddress(this.#parts.pool, { account, script });
    if (outcome === 'unknown') throw new AppError('not_found', 'the account does not have this address');
    if (outcome === 'last')
      throw new AppError(
        'tokenpay_address_last',
        'this is the last active address of the account, and without an active address the account could withdraw to any address. Add another address and wait until it is active, or ask the operator.',
      );
    return { kind: outcome };
  }

  async #network(): Promise<NetworkParameters> {
    const wallet = await this.#parts.wallet();
    if (wallet === null)
      throw new AppError('orders_off', 'this service makes no withdrawals, because it has no wallet');
    return networks[wallet.network];
  }
}

function listedAnswer({ address, addedAt, countsAt, counts }: AllowedAddress) {
  return { address, addedAt: addedAt.getTime(), countsAt: countsAt.getTime(), counts };
}
