import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import type pg from 'pg';
import { dropService } from '#backups/service-catalog.queries.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { startCli } from '#test/support/run-cli.ts';
import { fillOrders, migrateToEarlierVersion } from '../ledger/stored-orders.ts';
import { numberOption } from '../options.ts';
import { peakMegabytes } from '../process-peak.ts';
import type { Figure, Report } from '../report.ts';

/** How often the peak memory of a command is read, in ms. */
const lookMs = 20;

/** Measures a backup of many orders, and its restore into the emptied database, each as a process of its own. */
export async function backupsBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({ args, options: { orders: { type: 'string', default: '100000' } } });
  const orders = numberOption('orders', values.orders, 100);
  const dir = await mkdtemp(join(tmpdir(), 'satscribe-bench-backups-'));
  await chmod(dir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir: join(dir, 'data') });
  const client = await connectClient(server.url);
  try {
    await migrateToEarlierVersion(client);
    await fillOrders(client, orders);
    await migrate(server.url);
    // these orders have no files
    await client.query('UPDATE service.order_files SET sha256 = NULL');
    await client.query('VACUUM ANALYZE');
    const bytesBefore = await diskBytes(client);
    const env = {
      DATABASE_URL: server.url,
      FILES_DIR: join(dir, 'files'),
      SERVICE_SECRET_FILE: join(dir, 'secret'),
      WALLET_SEED_FILE: join(dir, 'seed'),
    };
    const backup = await measured(['backup', join(dir, 'backup'), '--without-seed', '--json'], env);
    const { rows, bytes } = JSON.parse(backup.stdout) as { rows: number; bytes: number };
    await dropService(client);
    const restore = await measured(['restore', join(dir, 'backup'), '--without-node', '--json'], env);
    const figures: Figure[] = [
      { name: 'rows', value: rows, unit: '' },
      { name: 'backupS', value: backup.seconds, unit: 's' },
      { name: 'backupPeakMB', value: backup.peakMB, unit: 'MB', target: { most: 400 } },
      { name: 'backupMB', value: bytes / 1e6, unit: 'MB' },
      { name: 'databaseMB', value: bytesBefore / 1e6, unit: 'MB' },
      { name: 'restoreS', value: restore.seconds, unit: 's' },
      { name: 'restorePeakMB', value: restore.peakMB, unit: 'MB', target: { most: 400 } },
    ];
    return {
      bench: 'backups',
      notes: [
        `${orders} orders of one file without the files; embedded Postgres on a disk`,
        'backupS, restoreS: from the start of the process to its end, with the check of every byte',
        'databaseMB: tables and indexes of the schema service before the backup',
      ],
      figures,
      details: [],
    };
  } finally {
    await client.end();
    await server.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

async function measured(
  words: readonly string[],
  env: Record<string, string>,
): Promise<{ readonly stdout: string; readonly seconds: number; readonly peakMB: number }> {
  const startedAt = performance.now();
  const command = startCli(words, env);
  let [hasEnded, peakMB] = [false, 0];
  const ended = command.ended.finally(() => {
    hasEnded = true;
  });
  while (!hasEnded) {
    const { pid } = command.child;
    // a process that just ended has no memory
    const now = pid === undefined ? 0 : await peakMegabytes(pid).catch(() => 0);
    if (now > peakMB) peakMB = now;
    await sleep(lookMs);
  }
  const { exitCode, stdout, stderr } = await ended;
  if (exitCode !== 0) throw new Error(`satscribe ${words[0]} ended with ${exitCode}: ${stderr}`);
  return { stdout, seconds: (performance.now() - startedAt) / 1000, peakMB };
}

/** Bytes of all tables of the schema with their indexes. */
async function diskBytes(client: pg.Client): Promise<number> {
  const { rows } = await client.query<{ bytes: number }>(
    `SELECT sum(pg_total_relation_size(oid))::bigint AS bytes FROM pg_class
      WHERE relnamespace = 'service'::regnamespace AND relkind = 'r'`,
  );
  return rows[0]?.bytes ?? Number.NaN;
}
