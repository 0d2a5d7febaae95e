import type pg from 'pg';
import { silentLogger } from '#test/support/http-app.ts';
import { accountOf } from '#wallet/account-key.ts';
import { endsAt } from '#wallet/indices/branch-ends.ts';
import { releaseIndices } from '#wallet/indices/release-indices.ts';
import { newSeedWords, readSeedFile, writeSeedFile } from '#wallet/seed-file.ts';
import { putWallet } from '#wallet/wallet.store.ts';
import type { WalletIdentity } from '#wallet/wallet-identity.ts';

/** Makes a wallet with new seed words: its seed file, and its row. */
export async function makeTestWallet(pool: pg.Pool, seedFile: string): Promise<WalletIdentity> {
  await writeSeedFile(seedFile, newSeedWords());
  const { key, fingerprint } = accountOf(await readSeedFile(seedFile), 'regtest');
  const identity = {
    network: 'regtest',
    accountXpub: key.publicExtendedKey,
    masterFingerprint: fingerprint,
  } as const;
  await putWallet(pool, identity, endsAt(0));
  return identity;
}

/** Releases indices like the process with the seed, until the returned function is called. */
export async function releaseTestWallet(
  url: string,
  seedFile: string,
  owner: WalletIdentity,
): Promise<() => Promise<void>> {
  const controller = new AbortController();
  const { tried, ended } = releaseIndices({
    url,
    markFile: `${seedFile}.mark`,
    owner,
    signal: controller.signal,
    log: silentLogger(),
    onProblem: (problem) => {
      if (problem !== null) throw problem;
    },
  });
  await tried;
  return async () => {
    controller.abort();
    await ended;
  };
}
