/** The indexing process. ./derived-process.ts starts it, and receives its only message. */
import { performance } from 'node:perf_hooks';
import { allowCheckpoints } from '#bench/allow-checkpoints.ts';
import { readConnectionFile } from '#embedded-postgres/connection-file.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { familyCpuMs } from '#kernel/stages/process-times.ts';
import type { DerivedOutcome, DerivedTask } from './derived-process.ts';

/**
 * Number of newest blocks that keep their event texts. In a first sync of mainnet one block in thousands keeps them.
 * With the usual 144, nearly all blocks of this chain would keep them, and their compression was a third of the cost of
 * runes.
 */
const eventsKeepBlocks = 10;

async function run({ folder, dataDir, indexRunes, indexSales }: DerivedTask): Promise<DerivedOutcome> {
  const server = await startEmbeddedPostgres({ dataDir });
  await allowCheckpoints(server);
  await migrate(server.url);
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  const source = await openFolderSource(folder);
  const serverPid = (await readConnectionFile(dataDir))?.serverPid ?? 0;
  const before = { wall: performance.now(), ours: process.cpuUsage(), postgres: familyCpuMs(serverPid) ?? 0 };
  const { bytes } = await follow({
    source,
    pool,
    signal: new AbortController().signal,
    indexRunes,
    indexSales,
    eventsKeepBlocks,
  });
  const wallMs = performance.now() - before.wall;
  const ours = process.cpuUsage(before.ours);
  const postgresMs = (familyCpuMs(serverPid) ?? 0) - before.postgres;
  const { rows } = await pool.query<{ balances: number; sales: number; bytes: number }>(
    `SELECT (SELECT count(*)::integer FROM chain.rune_balances) AS balances,
       (SELECT count(*)::integer FROM chain.sales) AS sales,
       sum(pg_total_relation_size(oid)) AS bytes
     FROM pg_class WHERE relnamespace = 'chain'::regnamespace AND relkind = 'r' AND relname ~ '^rune'`,
  );
  await pool.end();
  await server.stop();
  return {
    wallMs,
    oursMs: (ours.user + ours.system) / 1000,
    postgresMs,
    bytes,
    balances: rows[0]?.balances ?? 0,
    sales: rows[0]?.sales ?? 0,
    runeBytes: Number(rows[0]?.bytes ?? 0),
  };
}

process.send?.(await run(JSON.parse(process.argv[2] as string) as DerivedTask));
