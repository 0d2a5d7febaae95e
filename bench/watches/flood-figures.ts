import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { migrate } from '#kernel/pg/migrate.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { newKey, newWatch } from '#test/support/watches/new-watch.ts';
import { type ChangedWatches, keepNewest, tellChanges, writeStates } from '#watches/store/write-findings.ts';
import type { Watch } from '#watches/watch.ts';
import type { Figure } from '../report.ts';
import { median } from '../statistics.ts';

/** Number of watches of one key, each with this number of findings in one block. */
const watchesCount = 100;
const findingsEach = 1_000;
/** Number of found things that are stored at once, as by the process that follows. */
const statesAtOnce = 5_000;
/** Number of later rounds, each with one finding of each watch. */
const laterRounds = 9;

/** Measures how long the database takes to store and to tell a flood, while no receiver of a webhook answers. */
export async function floodFigures(): Promise<Figure[]> {
  const dataDir = await mkdtemp(join(tmpdir(), 'satscribe-bench-flood-'));
  await chmod(dataDir, 0o755);
  const server = await startEmbeddedPostgres({ dataDir: join(dataDir, 'postgres') });
  try {
    await migrate(server.url);
    const pool = createPool(server.url, { max: 2 });
    try {
      return await floodOf(pool);
    } finally {
      await pool.end();
    }
  } finally {
    await server.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

async function floodOf(pool: pg.Pool): Promise<Figure[]> {
  const key = await newKey(pool);
  const watches: Watch[] = [];
  for (let nth = 0; nth < watchesCount; nth++)
    watches.push(await newWatch(pool, key, 'runes', { event: 'etched', webhookUrl: 'https://example.com/' }));
  const flood = await findThings(pool, watches, 0, findingsEach);
  const later: number[] = [];
  for (let nth = 0; nth < laterRounds; nth++)
    later.push((await findThings(pool, watches, findingsEach + nth, 1)).total);
  const { rows } = await pool.query<{ messages: number; bytes: number }>(
    `SELECT count(*) AS messages, pg_total_relation_size('service.watch_findings') AS bytes FROM service.webhooks`,
  );
  const { messages = 0, bytes = 0 } = rows[0] ?? {};
  return [
    { name: 'flood_s', value: flood.total / 1000, unit: 's to store and tell' },
    { name: 'flood_tell_s', value: flood.tell / 1000, unit: 's of it to tell' },
    { name: 'flood_later_round_ms', value: median(later), unit: 'ms for one finding of each watch' },
    { name: 'flood_messages', value: messages, unit: 'waiting', target: { most: 3 * watchesCount } },
    {
      name: 'flood_finding_bytes',
      value: bytes / (watchesCount * findingsEach),
      unit: 'bytes in the database',
    },
  ];
}

/** Stores and tells new things of all watches in one transaction, as a block does. Times are in ms. */
async function findThings(
  pool: pg.Pool,
  watches: readonly Watch[],
  from: number,
  count: number,
): Promise<{ readonly total: number; readonly tell: number }> {
  const startedAt = performance.now();
  const storedAt = await withTransaction(pool, async (tx) => {
    const changed: ChangedWatches = new Map();
    const each = Math.ceil(statesAtOnce / watches.length);
    for (let first = 0; first < count; first += each) {
      const things = Array.from({ length: Math.min(each, count - first) }, (_, nth) => from + first + nth);
      await writeStates(
        tx,
        things.flatMap((thing) => watches.map(({ id }) => stateOf(id, thing))),
        changed,
      );
    }
    await keepNewest(tx, changed);
    const at = performance.now();
    await tellChanges(tx, changed);
    return at;
  });
  const endedAt = performance.now();
  return { total: endedAt - startedAt, tell: endedAt - storedAt };
}

function stateOf(watchId: string, nth: number): Parameters<typeof writeStates>[1][number] {
  const txid = Buffer.alloc(32, 1);
  txid.writeUInt32LE(nth);
  const inscriptionId = `${txid.toString('hex')}i0`;
  const facts = { inscriptionId };
  return { watchId, thing: inscriptionId, state: 'pending', txid, block: null, replacedBy: null, facts };
}
