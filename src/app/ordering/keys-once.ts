import type pg from 'pg';
import { IndexLeases } from '#wallet/indices/index-leases.ts';
import { openPublicWallet, type PublicWallet } from '#wallet/public-wallet.ts';

/**
 * Opens a value once that never changes after it exists, like the wallet. Null: it does not exist yet, and the next
 * caller looks again.
 */
export function onceThere<Of extends unknown[], Made>(
  open: (...of: Of) => Promise<Made | null>,
): (...of: Of) => Promise<Made | null> {
  let made: Made | null = null;
  return async (...of) => {
    if (made !== null) return made;
    const opened = await open(...of);
    // another request may have been faster
    made ??= opened;
    return made;
  };
}

/** Keys of the wallet for all callers. Null: no one has made the wallet yet. */
export const keysOnce = <Keys>(
  pool: pg.Pool,
  keysOf: (wallet: PublicWallet, leases: IndexLeases) => Keys,
): (() => Promise<Keys | null>) =>
  onceThere(async () => {
    const wallet = await openPublicWallet(pool);
    return wallet === null ? null : keysOf(wallet, new IndexLeases(pool));
  });
