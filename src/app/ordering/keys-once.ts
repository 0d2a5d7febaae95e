import type pg from 'pg';
import { IndexLeases } from '#wallet/indices/index-leases.ts';
import { openPublicWallet, type PublicWallet } from '#wallet/public-wallet.ts';

/**
 * Opens a value that never changes once it exists, like the wallet, and keeps it. Returns `null` if the value does not
 * exist yet; the next call then tries again.
 */
export function onceThere<Of extends unknown[], Made>(
  open: (...of: Of) => Promise<Made | null>,
): (...of: Of) => Promise<Made | null> {
  let made: Made | null = null;
  return async (...of) => {
    if (made !== null) return made;
    const opened = await open(...of);
    // a concurrent request may have opened it first
    made ??= opened;
    return made;
  };
}

/**
 * Returns the keys of the wallet, and shares them between all callers. Returns `null` if the wallet has not been
 * created yet.
 */
export const keysOnce = <Keys>(
  pool: pg.Pool,
  keysOf: (wallet: PublicWallet, leases: IndexLeases) => Keys,
): (() => Promise<Keys | null>) =>
  onceThere(async () => {
    const wallet = await openPublicWallet(pool);
    return wallet === null ? null : keysOf(wallet, new IndexLeases(pool));
  });
