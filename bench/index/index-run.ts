/** The indexing process. ./index-process.ts starts it, and receives its only message. */

import { monitorEventLoopDelay, performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { allowCheckpoints } from '#bench/allow-checkpoints.ts';
import { processorMeter, processorMsSince } from '#bench/processor-meter.ts';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { IndexProgress } from '#indexer/follow/follow-options.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import type { StageRecorder } from '#kernel/stages/stage-recorder.ts';
import { createSealer } from '#search/seal/sealer.ts';
import { forgetAbove } from '#search/segments/forget-segments.ts';
import type { IndexOutcome, IndexTask } from './index-process.ts';
import { StageProfile } from './stages.ts';

/** Interval between two samples of the event loop, in ms. It is included in the figure. */
const lookEveryMs = 1;
const lockLookEveryMs = 10;
const signal = new AbortController().signal;

interface Bulk {
  readonly indexMs: number;
  readonly sealMs: number;
  readonly progress: IndexProgress;
  readonly commits: [ms: number, inscriptions: number][];
}

/** Does the work of `satscribe index`: it writes the chain, builds the indexes, and seals everything for searches. */
async function bulkLoad(
  source: BlockSource,
  pool: pg.Pool,
  until: number | null,
  stages: StageRecorder | undefined,
): Promise<Bulk> {
  const commits: [number, number][] = [];
  let progress: IndexProgress = { blocks: 0, blocksTotal: 0, bytes: 0, bytesLeft: null, inscriptions: 0 };
  const start = performance.now();
  await follow({
    source,
    pool,
    signal,
    ...(stages === undefined ? {} : { stages }),
    ...(until === null ? {} : { until: asHeight(until) }),
    onProgress(state) {
      progress = state;
      commits.push([performance.now() - start, state.inscriptions]);
    },
    undoHooks: [forgetAbove],
  });
  const indexed = performance.now();
  const sealer = createSealer({ pool, ...(stages === undefined ? {} : { stages }) });
  await sealer.sealPending(signal);
  await sealer.close();
  return { indexMs: indexed - start, sealMs: performance.now() - indexed, progress, commits };
}

/** Waits until the writer's lock is free. The connections of a run end a moment after the run. */
async function lockIsFree(pool: pg.Pool): Promise<void> {
  const held = "SELECT FROM pg_locks WHERE locktype = 'advisory'";
  while ((await pool.query(held)).rowCount !== 0) await delay(lockLookEveryMs);
}

/** Time from the request of a block to its commit in ms, for each block above `above`. */
async function tipBlocks(source: BlockSource, pool: pg.Pool, above: number): Promise<number[]> {
  const times: number[] = [];
  for (const { height } of await source.refs(asHeight(above + 1))) {
    let askedAt = 0;
    await lockIsFree(pool);
    const timed: BlockSource = {
      ...source,
      read(ref, abort, buffers) {
        askedAt = performance.now();
        return source.read(ref, abort, buffers);
      },
    };
    await follow({
      source: timed,
      pool,
      signal,
      until: height,
      onProgress(state) {
        if (state.inscriptions > 0) times.push(performance.now() - askedAt);
      },
    });
  }
  return times;
}

async function relationSizes(pool: pg.Pool): Promise<{ name: string; bytes: number }[]> {
  await pool.query('VACUUM');
  await pool.query('CHECKPOINT');
  const { rows } = await pool.query<{ name: string; bytes: string }>(
    `SELECT relname AS name, pg_total_relation_size(c.oid) - CASE relkind WHEN 'r' THEN pg_indexes_size(c.oid) ELSE 0 END AS bytes
     FROM pg_class c JOIN pg_namespace n ON n.oid = relnamespace
     WHERE nspname IN ('chain', 'service') AND relkind IN ('r', 'i') ORDER BY 2 DESC`,
  );
  return rows.map(({ name, bytes }) => ({ name, bytes: Number(bytes) }));
}

async function run(task: IndexTask): Promise<IndexOutcome> {
  const server = await startEmbeddedPostgres({ dataDir: task.dataDir });
  await allowCheckpoints(server);
  await migrate(server.url);
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  const source = await openFolderSource(task.folder);
  const recorder = task.stages ? await StageProfile.start(pool) : null;
  const delays = monitorEventLoopDelay({ resolution: lookEveryMs });
  const processorMs = await processorMeter(task.dataDir);
  delays.enable();
  const before = processorMs();
  const bulk = await bulkLoad(source, pool, task.bulkUntil, recorder?.stages);
  const bulkProcessorMs = processorMsSince(before, processorMs());
  delays.disable();
  const peakMemoryMB = process.resourceUsage().maxRSS / 1024;
  const stages = recorder === null ? [] : await recorder.stop(source, bulk.progress.bytes);
  const sizes = await relationSizes(pool);
  const tipMs = task.tip && task.bulkUntil !== null ? await tipBlocks(source, pool, task.bulkUntil) : [];
  if (tipMs.length > 0) {
    const sealer = createSealer({ pool });
    await sealer.sealPending(signal);
    await sealer.close();
  }
  await pool.end();
  await server.stop();
  return {
    ...bulk.progress,
    indexMs: bulk.indexMs,
    sealMs: bulk.sealMs,
    processorMs: bulkProcessorMs,
    commits: bulk.commits,
    eventLoopP99Ms: delays.percentile(99) / 1e6,
    peakMemoryMB,
    databaseBytes: sizes.reduce((sum, { bytes }) => sum + bytes, 0),
    sizes,
    tipMs,
    stages,
  };
}

const outcome = await run(JSON.parse(process.argv[2] as string) as IndexTask);
if (process.send === undefined) console.log(JSON.stringify(outcome));
else process.send(outcome, () => process.disconnect());
