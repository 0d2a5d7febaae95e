import type pg from 'pg';
import { accountOf } from '#wallet/account-key.ts';
import { newSeedWords, readSeedFile, writeSeedFile } from '#wallet/seed-file.ts';
import { putWallet } from '#wallet/wallet.store.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';

/** A wallet of new words: its seed file, and its row. */
export async function makeTestWallet(pool: pg.Pool, seedFile: string): Promise<WalletIdentity> {
  await writeSeedFile(seedFile, newSeedWords());
  const { key, fingerprint } = accountOf(await readSeedFile(seedFile), 'regtest');
  const identity = {
    network: 'regtest',
    accountXpub: key.publicExtendedKey,
    masterFingerprint: fingerprint,
  } as const;
  await putWallet(pool, identity, 0);
  return identity;
}
