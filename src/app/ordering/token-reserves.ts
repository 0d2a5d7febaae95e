import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import { keepReserves, type ReservesWallet } from '#tokenpay/reserves/keep-reserves.ts';
import { openPublicWallet } from '#wallet/public-wallet.ts';
import { openSigner } from '#wallet/signer.ts';
import { onceThere } from './keys-once.ts';
import { openWebhookKeys } from './webhooks.ts';

/** Publishes proofs of reserves for the life of the process, if it has the seed of the wallet. */
export function startReserves({ config, lifecycle, logger }: CommandContext, { url }: Database): void {
  const { walletSeedFile } = config;
  if (lifecycle.signal.aborted || walletSeedFile === undefined) return;
  const log = logger.child({ part: 'reserves' });
  lifecycle
    .run('reserves', (signal) =>
      keepReserves({
        url,
        wallet: onceThere(async (client: pg.ClientBase): Promise<ReservesWallet | null> => {
          const wallet = await openPublicWallet(client);
          if (wallet === null) return null;
          const signer = await openSigner(walletSeedFile, wallet.identity);
          return { network: wallet.network, prove: (key, message) => signer.proveAddress(key, message) };
        }),
        keys: () => openWebhookKeys(config),
        signal,
        log,
      }),
    )
    .catch((error: unknown) => {
      // orders advance without the proofs; the age of the last document shows the failure
      if (!(error instanceof AppError)) lifecycle.fail(error);
      else log.error({ code: error.code, err: error }, 'reserves are no longer checked');
    });
}
