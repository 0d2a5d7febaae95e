/** The process that runs only the critical stage. ./critical.ts starts it, and receives its only message. */
import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { allowCheckpoints } from '#bench/allow-checkpoints.ts';
import { readConnectionFile } from '#embedded-postgres/connection-file.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { openChainSession } from '#indexer/apply/chain-session.ts';
import { factsOf } from '#indexer/derived/derived-batch.ts';
import type { DerivedSettings } from '#indexer/derived/derived-table.ts';
import { follow } from '#indexer/follow/follow.ts';
import { openNodeSource } from '#indexer/source/node-source.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { familyCpuMs } from '#kernel/stages/process-times.ts';
import { connectNode } from '#node/bitcoin-node.ts';
import { startBitcoind } from '#test/support/node/bitcoind.ts';
import type { CriticalOutcome, CriticalTask, CriticalTimes } from './critical.ts';
import { keepOnCore } from './one-core.ts';
import { type ParsedBefore, parseBefore } from './parsed-before.ts';

const [ourCore, postgresCore] = [0, 1];
/** The derived tables that a first sync fills. */
const tables: DerivedSettings = {
  indexAddresses: false,
  indexRunes: true,
  indexSats: false,
  indexSales: true,
};

/** Reads all blocks of the node. The node runs only during this call. */
async function blocksOfNode(pool: pg.Pool, task: CriticalTask): Promise<ParsedBefore> {
  const node = await startBitcoind({ executable: task.bitcoind, dataDir: task.nodeFolder });
  try {
    const source = openNodeSource(await connectNode(node.settings));
    const session = await openChainSession(pool, source.network, tables);
    await session.close();
    const { fingerprintKey, followed } = session;
    const parsed = await parseBefore(source, {
      fingerprintKey,
      facts: factsOf(followed.active.map(({ table }) => table)),
    });
    await source.close();
    return parsed;
  } finally {
    await node.stop();
  }
}

/** Returns a function that reads the usage since this call. */
function watch(serverPid: number): () => CriticalTimes {
  const read = (): CriticalTimes => {
    const [main, ours] = [process.threadCpuUsage(), process.cpuUsage()];
    return {
      wallMs: performance.now(),
      mainMs: (main.user + main.system) / 1000,
      oursMs: (ours.user + ours.system) / 1000,
      postgresMs: familyCpuMs(serverPid) ?? 0,
    };
  };
  const before = read();
  return () => {
    const now = read();
    return {
      wallMs: now.wallMs - before.wallMs,
      mainMs: now.mainMs - before.mainMs,
      oursMs: now.oursMs - before.oursMs,
      postgresMs: now.postgresMs - before.postgresMs,
    };
  };
}

async function run(task: CriticalTask): Promise<CriticalOutcome> {
  const { dataDir } = task;
  const server = await startEmbeddedPostgres({ dataDir });
  await allowCheckpoints(server);
  await migrate(server.url);
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  const { source, threads, bytes } = await blocksOfNode(pool, task);
  await pool.query('CHECKPOINT');
  const serverPid = (await readConnectionFile(dataDir))?.serverPid ?? 0;
  await keepOnCore(serverPid, postgresCore);
  await keepOnCore(process.pid, ourCore);
  const used = watch(serverPid);
  let load: CriticalTimes | null = null;
  const summary = await follow({
    ...tables,
    source,
    threads,
    pool,
    signal: new AbortController().signal,
    onIndexing: () => {
      load ??= used();
    },
  });
  const all = used();
  if (summary.bytes !== bytes || load === null) throw new Error('the blocks in memory were not all indexed');
  await pool.end();
  await server.stop();
  return { bytes, load, all };
}

process.send?.(await run(JSON.parse(process.argv[2] as string) as CriticalTask), () => process.disconnect());
