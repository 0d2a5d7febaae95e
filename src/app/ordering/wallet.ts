import type pg from 'pg';
import type { Config } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { servedNetwork } from '#kernel/pg/served-network.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { type DatabaseAccess, openDatabase } from '#src/app/database/database.ts';

const statementTimeoutMs = 30_000;

/** The database that a wallet command works on. */
export interface WalletDatabase {
  readonly pool: pg.Pool;
  /**
   * Returns the network of the database, or that of the settings if the database has none. Returns `null` if neither
   * has a network. Throws `network_mismatch`.
   */
  network(): Promise<NetworkName | null>;
}

/** Runs wallet work on the database of the settings. A service may run at the same time. */
export async function withWalletDatabase(
  context: CommandContext,
  access: DatabaseAccess,
  work: (database: WalletDatabase) => Promise<void>,
): Promise<void> {
  const { url } = await openDatabase(context, access);
  const pool = createPool(url, { applicationName: 'satscribe wallet', max: 1, statementTimeoutMs });
  context.lifecycle.add('wallet connection', () => pool.end());
  const network = async (): Promise<NetworkName | null> => {
    const named = context.config.network ?? null;
    const served = await servedNetwork(pool);
    if (named !== null && served !== null && named !== served)
      throw new AppError('network_mismatch', `The database serves ${served} and not ${named}.`);
    return served ?? named;
  };
  await context.lifecycle.run('wallet', () => work({ pool, network }));
}

/** Returns the path of the seed file from the settings. */
export function seedFileOf({ config }: CommandContext): string {
  if (config.walletSeedFile !== undefined) return config.walletSeedFile;
  throw new UsageError('missing seed file; name it with --seed-file FILE or WALLET_SEED_FILE');
}

/** Returns the path of the mark file. It is beside the seed file, unless the settings give it another path. */
export const markFileOf = ({ walletMarkFile }: Config, seedFile: string): string =>
  walletMarkFile ?? `${seedFile}.mark`;
