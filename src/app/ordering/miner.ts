import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import type { FollowOrdersOptions } from '#orders/following/follow-orders.ts';
import { handPackages } from '#orders/mining/hand-packages.ts';
import { httpMiner } from '#orders/mining/http-miner.ts';
import type { Miner } from '#orders/mining/miner.ts';
import { packageFigures } from '#orders/mining/packages.store.ts';
import { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { openPublicWallet } from '#wallet/public-wallet.ts';

/**
 * Opens the miner of NONSTANDARD_MINER_URL. Returns `null` if it is not set. The operator chose the URL, so it may be a
 * private address.
 */
export function openMiner(
  { config, lifecycle }: Pick<CommandContext, 'config' | 'lifecycle'>,
  pool: pg.Pool,
): Miner | null {
  const { nonstandardMinerUrl: url } = config;
  if (url === undefined) return null;
  const http = new OutgoingHttp({ own: [url] });
  lifecycle.add('requests to the miner', () => http.close());
  return httpMiner(http, url, async () => {
    const wallet = await openPublicWallet(pool);
    if (wallet === null)
      throw new AppError('orders_off', 'this service accepts no orders, because it has no wallet');
    return wallet.network;
  });
}

/** Sends packages to the miner of NONSTANDARD_MINER_URL. `null` if it is not set. */
export function minerHandingOf(
  { config, lifecycle }: Pick<CommandContext, 'config' | 'lifecycle'>,
  { url, readers }: Pick<Database, 'url' | 'readers'>,
  { metrics }: Pick<OperationsParts, 'metrics'>,
  log: CommandContext['logger'],
): FollowOrdersOptions['handPackages'] {
  const miner = openMiner({ config, lifecycle }, readers);
  if (miner === null) return null;
  showPackages({ metrics }, readers);
  return (signal) => handPackages({ url, miner, signal, log });
}

/** Adds metrics of the packages for a miner. */
function showPackages({ metrics }: Pick<OperationsParts, 'metrics'>, pool: pg.Pool): void {
  metrics.read({
    name: 'satscribe_orders_packages',
    help: 'Transactions above the standard size: those that wait for the answer of the miner, and those that the miner accepted',
    labels: ['state'],
    values: async () => {
      const { waiting, accepted } = await packageFigures(pool);
      return [
        { labels: { state: 'waiting' }, value: waiting },
        { labels: { state: 'accepted' }, value: accepted },
      ];
    },
  });
  metrics.read({
    name: 'satscribe_orders_packages_waiting_seconds',
    help: 'Age of the oldest transaction that waits for the answer of the miner; 0 if no transaction waits',
    values: async () => [{ value: (await packageFigures(pool)).oldestWaiting }],
  });
}
