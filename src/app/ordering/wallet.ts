import type pg from 'pg';
import type { Config } from '#config/config.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { servedNetwork } from '#kernel/pg/served-network.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { type CommandContext, UsageError } from '#src/app/command-context.ts';
import { type DatabaseAccess, openDatabase } from '#src/app/database/database.ts';

const statementTimeoutMs = 30_000;

/** The database of a command about the wallet. */
export interface WalletDatabase {
  readonly pool: pg.Pool;
  /**
   * The network that the database serves, else that of the settings. Null: neither names one. Throws
   * `network_mismatch`.
   */
  network(): Promise<NetworkName | null>;
}

/** Works on the database of the settings, beside a service or without one. */
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
      throw new AppError('network_mismatch', `The database serves ${served}, and not ${named}.`);
    return served ?? named;
  };
  await context.lifecycle.run('wallet', () => work({ pool, network }));
}

/** The seed file of the settings. */
export function seedFileOf({ config }: CommandContext): string {
  if (config.walletSeedFile !== undefined) return config.walletSeedFile;
  throw new UsageError('which seed file? Name it with --seed-file FILE or WALLET_SEED_FILE');
}

/** The mark file of the settings: beside the seed file, unless it has a place of its own. */
export const markFileOf = ({ walletMarkFile }: Config, seedFile: string): string =>
  walletMarkFile ?? `${seedFile}.mark`;
