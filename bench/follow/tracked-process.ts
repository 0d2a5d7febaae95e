/** The process that opens a database with many tracked outputs. ./tracked.ts starts it, and receives its message. */

import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { BlockWriter } from '#indexer/apply/block-writer.ts';
import { openChainSession } from '#indexer/apply/chain-session.ts';
import { loadWriterMemory } from '#indexer/apply/memory/writer-memory.ts';
import { factsOf } from '#indexer/derived/derived-batch.ts';
import { eventKinds } from '#indexer/derived/event-kinds.ts';
import { blockReader } from '#indexer/source/block-reader.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import { createParsePool } from '#indexer/workers/parse-pool.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { networks } from '#kernel/primitives/network.ts';
import type { TrackedOutcome, TrackedTask } from './tracked.ts';
import { transferPlan } from './transfer-chain.ts';

const lookEveryMs = 5;
const signal = new AbortController().signal;

interface Touched {
  readonly walBytes: number;
  readonly rows: number;
}

/** Bytes of WAL and number of rows written so far. */
async function touched(writer: pg.ClientBase, pool: pg.Pool): Promise<Touched> {
  await writer.query('SELECT pg_stat_force_next_flush()');
  await delay(50);
  const { rows } = await pool.query<{ wal: string; rows: string }>(
    `SELECT pg_current_wal_insert_lsn() - '0/0'::pg_lsn AS wal,
       (SELECT sum(n_tup_ins + n_tup_upd + n_tup_del) FROM pg_stat_user_tables WHERE schemaname = 'chain') AS rows`,
  );
  return { walBytes: Number(rows[0]?.wal), rows: Number(rows[0]?.rows) };
}

/** Loads the writer's memory, like at a start. Meanwhile it samples the size of the process. */
async function load(url: string): Promise<Omit<TrackedOutcome, 'blocks'>> {
  const pool = createPool(url, { applicationName: 'satscribe bench' });
  const session = await openChainSession(pool, 'regtest');
  const before = process.memoryUsage.rss();
  let most = before;
  const timer = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, lookEveryMs);
  const start = performance.now();
  const memory = await loadWriterMemory(session.reader);
  const loadMs = performance.now() - start;
  clearInterval(timer);
  const outcome = {
    loadMs,
    trackedOutputs: memory.tracked.size,
    setBytes: memory.tracked.sizeBytes,
    peakBytes: Math.max(most, process.resourceUsage().maxRSS * 1024) - before,
  };
  await session.close();
  await pool.end();
  return outcome;
}

/** Applies the blocks of transfers one at a time, like the follower at the tip. */
async function transfers(url: string, folder: string): Promise<TrackedOutcome['blocks']> {
  const pool = createPool(url, { applicationName: 'satscribe bench' });
  const source = await openFolderSource(folder);
  const session = await openChainSession(pool, source.network);
  const steps = new Map<string, number[]>([
    ['ledger', []],
    ['write', []],
  ]);
  const writer = await BlockWriter.open({
    session,
    facts: {
      network: networks[source.network],
      islands: await source.islands(),
      eventKinds,
      readBlock: blockReader(source),
    },
    onStep: (step, seconds) => steps.get(step)?.push(seconds * 1000),
  });
  // starts after the block with which the restart was measured
  const refs = await source.refs(asHeight(transferPlan.filledHeight + 2));
  const parsePool = createParsePool(createBufferPool(), {
    facts: factsOf(session.followed.active.map(({ table }) => table)),
  });
  const timesMs: number[] = [];
  await pool.query('CHECKPOINT');
  let before: Touched | null = null;
  for await (const block of parsePool.blocks(source, refs, session.fingerprintKey, signal)) {
    const isWarm = block.ref.height > transferPlan.filledHeight + transferPlan.warmUpBlocks;
    if (isWarm) before ??= await touched(session.writer, pool);
    const start = performance.now();
    await writer.write([block], false);
    await writer.finish();
    if (isWarm) timesMs.push(performance.now() - start);
  }
  const after = await touched(session.writer, pool);
  await parsePool.close();
  await session.close();
  await pool.end();
  return {
    timesMs,
    ledgerMs: steps.get('ledger')?.slice(-timesMs.length) ?? [],
    writeMs: steps.get('write')?.slice(-timesMs.length) ?? [],
    walBytes: (after.walBytes - (before as Touched).walBytes) / timesMs.length,
    rows: (after.rows - (before as Touched).rows) / timesMs.length,
  };
}

/** Runs from the process start to the commit of a block. This is what `restartSeconds` measures. */
async function restart(url: string, folder: string): Promise<void> {
  const { follow } = await import('#indexer/follow/follow.ts');
  const pool = createPool(url, { applicationName: 'satscribe bench' });
  const source = await openFolderSource(folder);
  await follow({ source, pool, signal, until: asHeight(transferPlan.filledHeight + 1) });
  await pool.end();
}

const task = JSON.parse(process.argv[2] as string) as TrackedTask;
let message: TrackedOutcome | null = null;
if (task.kind === 'restart') await restart(task.url, task.folder);
if (task.kind === 'load') message = { ...(await load(task.url)), blocks: null };
if (task.kind === 'transfers') {
  const blocks = await transfers(task.url, task.folder);
  message = { loadMs: 0, trackedOutputs: 0, setBytes: 0, peakBytes: 0, blocks };
}
process.send?.(message, () => process.disconnect());
