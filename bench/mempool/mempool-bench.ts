import { fork } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type pg from 'pg';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { followMempool } from '#indexer/mempool/follow/follow-mempool.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createLogger } from '#kernel/reports/logger.ts';
import { bulkRpc } from '#node/bitcoin-node.ts';
import { BulkReads } from '#node/bulk-reads.ts';
import { createCoreRpc } from '#node/core-rpc.ts';
import { Credentials } from '#node/credentials.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { numberOption } from '../options.ts';
import type { Report } from '../report.ts';
import { median } from '../statistics.ts';

const megabyte = 1_000_000;
// lets the bench collect garbage before it measures memory
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
const searches = 20;

interface Followed {
  readonly seconds: number;
  /** The longest delay of the event loop, and the delay that only one in a thousand exceeds. */
  readonly longestStretchMs: number;
  readonly lateStretchMs: number;
  readonly peakMB: number;
  readonly leftMB: number;
  readonly transactions: number;
  readonly kept: number;
  readonly searchMs: number;
}

/** Measures the first snapshot of a full mempool, from the start until searches find pending inscriptions. */
export async function mempoolBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      transactions: { type: 'string', default: '200000' },
      seed: { type: 'string', default: '1' },
    },
  });
  const count = numberOption('transactions', values.transactions, 1);
  const program = new URL('./generated-node.ts', import.meta.url);
  const node = fork(program, [String(count), values.seed], { stdio: 'inherit' });
  const dataDir = await mkdtemp(join(tmpdir(), 'satscribe-mempool-bench-'));
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir });
  try {
    const [{ port, bytes }] = (await once(node, 'message')) as [{ port: number; bytes: number }];
    await migrate(server.url);
    const pool = createPool(server.url);
    await prepare(pool);
    const followed = await follow(pool, `http://127.0.0.1:${port}`);
    await pool.end();
    return reportOf(followed, bytes);
  } finally {
    node.kill();
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function prepare(pool: pg.Pool): Promise<void> {
  const client = await pool.connect();
  try {
    await ensureSecondaryIndexes(client);
    await client.query(
      `INSERT INTO chain.state (network, fingerprint_key, text_rules, cbor_rules, tip_height, tip_hash)
       VALUES ('regtest', $1, 1, 1, 0, $2)`,
      [Buffer.alloc(32, 7), Buffer.alloc(32)],
    );
  } finally {
    client.release();
  }
}

async function follow(pool: pg.Pool, url: string): Promise<Followed> {
  collectGarbage();
  const before = process.memoryUsage.rss();
  const heapBefore = process.memoryUsage().heapUsed + process.memoryUsage().arrayBuffers;
  let peak = before;
  const sampler = setInterval(() => {
    peak = Math.max(peak, process.memoryUsage.rss());
  }, 50);
  const controller = new AbortController();
  const start = performance.now();
  const credentials = new Credentials({ kind: 'password', user: 'u', password: 'p' });
  const core = createCoreRpc(url, credentials);
  const bulk = new BulkReads(url, url, credentials);
  const turns = monitorEventLoopDelay({ resolution: 1 });
  turns.enable();
  const end = followMempool({
    node: {
      rpc: bulkRpc(core, bulk),
      facts: { zmq: new Map(), reveals: 'untested' },
      messages: { listen: () => () => undefined, close: async () => undefined },
    },
    pool,
    network: networks.regtest,
    signal: controller.signal,
    log: createLogger('warn'),
  });
  let state: { transactions: number; kept: number } | undefined;
  while (state === undefined) {
    await delay(50);
    const { rows } = await pool.query<{ transactions: number; kept: number }>(
      'SELECT transactions, kept FROM chain.pending_state',
    );
    [state] = rows;
  }
  const seconds = (performance.now() - start) / 1000;
  clearInterval(sampler);
  turns.disable();
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  const left = heapUsed + arrayBuffers - heapBefore;
  const searchMs = await searchTimes(pool);
  controller.abort();
  await end;
  core.close();
  await bulk.close();
  return {
    seconds,
    longestStretchMs: turns.max / megabyte,
    lateStretchMs: turns.percentile(99.9) / megabyte,
    peakMB: (peak - before) / megabyte,
    leftMB: left / megabyte,
    searchMs,
    ...state,
  };
}

async function searchTimes(pool: pg.Pool): Promise<number> {
  const service = createSearchService({ pool, engine: createPostgresEngine() });
  const times: number[] = [];
  for (let index = 0; index < searches; index++) {
    const start = performance.now();
    const text = `"tick":"t${index}"`;
    await service.textSearch({
      corpus: 'content',
      text,
      phrase: true,
      page: 1,
      itemsPerPage: 100,
      pending: true,
    });
    times.push(performance.now() - start);
  }
  return median(times);
}

function reportOf(followed: Followed, bytes: number): Report {
  const { seconds, longestStretchMs, lateStretchMs, peakMB, leftMB, transactions, kept, searchMs } = followed;
  return {
    bench: 'mempool',
    notes: [
      `${transactions} generated transactions, ${Math.round(bytes / megabyte)} MB, one in four a reveal, over JSON-RPC from a process of its own`,
    ],
    figures: [
      { name: 'snapshotSeconds', value: seconds, unit: 's' },
      { name: 'longestStretchMs', value: longestStretchMs, unit: 'ms', target: { most: 50 } },
      { name: 'snapshotPeakMB', value: peakMB, unit: 'MB' },
      { name: 'mempoolMB', value: leftMB, unit: 'MB' },
      { name: 'pendingSearchMs', value: searchMs, unit: 'ms' },
    ],
    details: [
      { name: 'stretch of the event loop, p99.9', value: lateStretchMs, unit: 'ms' },
      { name: 'transactions kept', value: kept, unit: '' },
      { name: 'transactions a second', value: transactions / seconds, unit: '' },
    ],
  };
}
