import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { satsOfAccounts } from '#purse/coins/coins.store.ts';
import { databaseFolder } from '#test/support/database-folder.ts';
import { readAccountCoins } from '#tokenpay/withdrawing/account-coins.queries.ts';
import { owedToAccounts } from '#tokenpay/withdrawing/owed.queries.ts';
import { readPoorCoins } from '#tokenpay/withdrawing/poor-coins.queries.ts';
import { uncoveredWithdrawals } from '#tokenpay/withdrawing/uncovered.queries.ts';
import type { Figure } from '../report.ts';
import { percentile } from '../statistics.ts';
import { fillHistory, openBatch } from './stored-history.ts';

const present = { accounts: 1000, unspent: 20_000, open: 10_000 };
const rune = 1;
const coinsOfOne = 101;
const times = 5;

/**
 * Measures the statements for a batch of 500 withdrawals. The tables contain spent coins, their entries and completed
 * withdrawals. The baseline has a tenth of these, and the same unspent coins.
 */
export async function historyFigures(spent: number): Promise<Figure[]> {
  const less = await measured(spent / 10);
  const all = await measured(spent);
  return [...all].flatMap(([name, value]) => [
    { name: `${name}MsOfTenth`, value: less.get(name) ?? Number.NaN, unit: 'ms' },
    { name: `${name}Ms`, value, unit: 'ms' },
  ]);
}

async function measured(spent: number): Promise<Map<string, number>> {
  const dataDir = await mkdtemp(join(databaseFolder(), 'satscribe-bench-withdrawals-'));
  // if root runs this, the database runs as an ordinary account, which must be able to reach the folder
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir, durable: false });
  try {
    await migrate(server.url);
    const client = await connectClient(server.url);
    await fillHistory(client, { ...present, spent });
    const found = new Map<string, number>();
    for (const [name, ask] of Object.entries(await statementsOf(client))) {
      const all: number[] = [];
      for (let nth = 0; nth < times; nth++) {
        const startedAt = performance.now();
        await ask();
        all.push(performance.now() - startedAt);
      }
      found.set(name, percentile(all, 0.5));
    }
    await client.end();
    return found;
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function statementsOf(client: pg.Client): Promise<Record<string, () => Promise<unknown>>> {
  const { payout, accounts } = await openBatch(client);
  const coinsOf = (of: readonly string[]) =>
    readAccountCoins(client, { accounts: of, limit: coinsOfOne, asset: rune });
  return {
    owedToAccounts: () => owedToAccounts(client),
    satsOfAccounts: () => satsOfAccounts(client),
    coinsOfAccount: () => coinsOf(accounts.slice(0, 1)),
    coinsOf500Accounts: () => coinsOf(accounts),
    poorCoins: () =>
      readPoorCoins(client, { least: 58n, most: 1_360n, deep: 1_000, budget: 20_000n, limit: 400 }),
    uncoveredOf500: () => uncoveredWithdrawals(client, payout, 0n),
  };
}
