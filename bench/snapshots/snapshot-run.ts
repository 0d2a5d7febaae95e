/** A step of a snapshot: started by ./snapshot-process.ts, which receives its only message. */
import { mkdirSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { type ProcessorMs, processorMeter, processorMsSince } from '#bench/processor-meter.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { checkTexts } from './check-texts.ts';
import { buildKeys, copyIn, copyOut } from './copy-tables.ts';
import type { SnapshotOutcome, SnapshotPart, SnapshotTask } from './snapshot-process.ts';

/** Measures the parts of a step. */
class Parts {
  readonly list: SnapshotPart[] = [];
  readonly #processorMs: () => ProcessorMs;

  constructor(processorMs: () => ProcessorMs) {
    this.#processorMs = processorMs;
  }

  async of<T>(name: string, work: () => Promise<T>): Promise<T> {
    const [start, before] = [performance.now(), this.#processorMs()];
    const result = await work();
    const processorMs = processorMsSince(before, this.#processorMs());
    this.list.push({ name, ms: performance.now() - start, processorMs });
    return result;
  }
}

async function importAll(pool: pg.Pool, folder: string, parts: Parts): Promise<SnapshotOutcome> {
  const keys = await parts.of('copy in', () => copyIn(pool, folder));
  await parts.of('primary keys', () => buildKeys(pool, keys));
  await parts.of('secondary indexes', async () => {
    const client = await pool.connect();
    await ensureSecondaryIndexes(client, { pool });
    client.release();
  });
  const { rows } = await pool.query<{ network: NetworkName }>('SELECT network FROM chain.state');
  const checked = await parts.of('check', () => checkTexts(pool, rows[0]?.network ?? 'regtest'));
  return { parts: parts.list, ...checked };
}

async function run({ step, dataDir, folder }: SnapshotTask): Promise<SnapshotOutcome> {
  const server = await startEmbeddedPostgres({ dataDir });
  if (step === 'import') await migrate(server.url);
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  try {
    const parts = new Parts(await processorMeter(dataDir));
    if (step === 'import') return await importAll(pool, folder, parts);
    mkdirSync(folder, { recursive: true });
    await parts.of('copy out', () => copyOut(pool, folder));
    return { parts: parts.list, events: 0, compared: 0 };
  } finally {
    await pool.end();
    await server.stop();
  }
}

process.send?.(await run(JSON.parse(process.argv[2] as string) as SnapshotTask));
