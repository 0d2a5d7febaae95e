/** The indexing process. ./derived-process.ts starts it, and receives its only message. */
import { performance } from 'node:perf_hooks';
import { allowCheckpoints } from '#bench/allow-checkpoints.ts';
import { processorMeter, processorMsSince } from '#bench/processor-meter.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
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
  const processorMs = await processorMeter(dataDir);
  const start = performance.now();
  const before = processorMs();
  const { bytes } = await follow({
    source,
    pool,
    signal: new AbortController().signal,
    indexRunes,
    indexSales,
    eventsKeepBlocks,
  });
  const wallMs = performance.now() - start;
  const { ours: oursMs, postgres: postgresMs } = processorMsSince(before, processorMs());
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
    oursMs,
    postgresMs,
    bytes,
    balances: rows[0]?.balances ?? 0,
    sales: rows[0]?.sales ?? 0,
    runeBytes: Number(rows[0]?.bytes ?? 0),
  };
}

process.send?.(await run(JSON.parse(process.argv[2] as string) as DerivedTask));
