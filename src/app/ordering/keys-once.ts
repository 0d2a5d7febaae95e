import type pg from 'pg';
import { IndexLeases } from '#wallet/indices/index-leases.ts';
import { openPublicWallet, type PublicWallet } from '#wallet/public-wallet.ts';

/**
 * Keys of the wallet for those who ask, made once: the wallet never changes once it is there. Null: there is none yet.
 */
export function keysOnce<Keys>(
  pool: pg.Pool,
  keysOf: (wallet: PublicWallet, leases: IndexLeases) => Keys,
): () => Promise<Keys | null> {
  let keys: Keys | null = null;
  return async () => {
    if (keys !== null) return keys;
    const wallet = await openPublicWallet(pool);
    // another request may have been faster
    keys ??= wallet === null ? null : keysOf(wallet, new IndexLeases(pool));
    return keys;
  };
}
