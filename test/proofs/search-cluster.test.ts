import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import type { SearchHits } from '#kernel/contracts/search-engine.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import type { Marker } from '#search/elastic/server/marker.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/database.ts';
import { type Elasticsearch, hasElasticsearch } from '#test/support/elasticsearch/elasticsearch.ts';
import {
  startElasticsearchCluster,
  untilHealthy,
} from '#test/support/elasticsearch/elasticsearch-cluster.ts';
import { caughtUp, startSync } from '#test/support/elasticsearch/running-sync.ts';
import { createSyncedIndex, type SyncedIndex } from '#test/support/elasticsearch/synced-index.ts';
import { naiveTextSearch } from '#test/support/search/naive-search.ts';
import {
  createSearchRows,
  type SearchRows,
  type StoredInscription,
  text,
} from '#test/support/search/search-rows.ts';

const timeout = 600_000;
const nodesCount = 3;
const readersCount = 4;
/**
 * Duration of each phase, in ms: before a node is killed, while it is away, and after its return. A block comes every
 * half second, a thousand times mainnet's rate.
 */
const phasesMs = { before: 8000, away: 30_000, after: 8000 };

interface Answer {
  readonly atMs: number;
  readonly needle: string;
  readonly page: number;
  readonly hits: SearchHits;
}

/** The longest time without an event between two times. */
function longestGap(timesMs: readonly number[], fromMs: number, toMs: number): number {
  const inside = [fromMs, ...timesMs.filter((at) => at >= fromMs && at <= toMs), toMs];
  return Math.max(...inside.slice(1).map((at, index) => at - inside[index]!));
}

describe.runIf(hasElasticsearch())('a cluster of three nodes with a replica', { timeout }, () => {
  let database: TestDatabase;
  let rows: SearchRows;
  let nodes: readonly Elasticsearch[];
  let index: SyncedIndex;
  /** The inscriptions of the chain at every block that was ever the tip. */
  const states = new Map<string, readonly StoredInscription[]>();

  beforeAll(async () => {
    database = await createTestDatabase();
    rows = await createSearchRows(database.pool);
    nodes = await startElasticsearchCluster(nodesCount, 512);
    const url = nodes.map((node) => node.url).join(',');
    index = createSyncedIndex(database.pool, database.url, rows, { url, timeoutMs: 10_000 });
  }, timeout);
  afterAll(async () => {
    await index?.close();
    await Promise.all((nodes ?? []).map((node) => node.remove()));
    await database?.drop();
  });

  const remember = async (): Promise<void> => {
    const { rows: tips } = await database.pool.query<{ tip_hash: Buffer }>(
      'SELECT tip_hash FROM chain.state',
    );
    states.set(displayHash(tips[0]!.tip_hash), [...rows.inscriptions]);
  };

  let serial = 0;
  const addBlock = async (): Promise<void> => {
    await rows.addBlock(
      Array.from({ length: 12 }, () => ({
        content: text(serial % 3 === 0 ? 'shared' : `shared ${serial % 40} of ${serial}`),
        metadata: serial++ % 5 === 0 ? '{"a":"shared"}' : null,
      })),
    );
    await remember();
  };

  /** The node that has the primary copy of the first shard. */
  const nodeOfPrimary = async (): Promise<Elasticsearch> => {
    const shards = await index.elastic.request<{ node: string; prirep: string; shard: string }[]>({
      method: 'GET',
      path: `/_cat/shards/${await index.served()}`,
      query: { format: 'json' },
    });
    const name = shards.find(({ prirep, shard }) => prirep === 'p' && shard === '0')!.node;
    return nodes[Number(name.slice(1)) - 1]!;
  };

  test('loses a node under load, and no answer is wrong and no document lost', async () => {
    for (let height = 0; height < 20; height++) await addBlock();
    const steps: number[] = [];
    const sync = startSync({
      databaseUrl: database.url,
      elastic: index.elastic,
      prefix: index.prefix,
      shards: 2,
      replicas: 1,
      onStep: ({ kind }: { kind: string; marker: Marker }) => {
        if (kind === 'advanced') steps.push(performance.now());
      },
    });
    await caughtUp(database.pool, index);
    await untilHealthy(nodes, nodesCount, 'green');

    const ending = new AbortController();
    const answers: Answer[] = [];
    const refusals = new Map<string, number>();
    const read = async (seed: number): Promise<void> => {
      for (let turn = seed; !ending.signal.aborted; turn++) {
        const needle = ['shared', `shared ${turn % 40} `, String(turn % 10)][turn % 3]!;
        const page = 1 + (turn % 4);
        try {
          const hits = await withSnapshot(
            database.pool,
            (snapshot) =>
              index.engine.searchText(snapshot, {
                corpus: 'content',
                needles: [needle],
                page,
                itemsPerPage: 50,
              }),
            null,
          );
          answers.push({ atMs: performance.now(), needle, page, hits });
        } catch (error) {
          if (!(error instanceof AppError) || !error.code.startsWith('search_engine_')) throw error;
          refusals.set(error.code, (refusals.get(error.code) ?? 0) + 1);
          await delay(20);
        }
        await delay(10);
      }
    };
    const write = async (): Promise<void> => {
      while (!ending.signal.aborted) {
        await addBlock();
        await delay(400);
      }
    };
    const load = [...Array.from({ length: readersCount }, (_, seed) => read(seed)), write()];
    const beganMs = performance.now();
    await delay(phasesMs.before);
    const killed = await nodeOfPrimary();
    const killedMs = performance.now();
    await killed.kill();
    await delay(phasesMs.away);
    const startedMs = performance.now();
    await killed.start();
    await killed.whenReady();
    await untilHealthy(nodes, nodesCount, 'green');
    const wholeMs = performance.now();
    await delay(phasesMs.after);
    ending.abort();
    await Promise.all(load);
    const endedMs = performance.now();
    await rows.undoAbove(rows.height - 3, () => Promise.resolve());
    await addBlock();
    await caughtUp(database.pool, index);
    await sync.stop();
    await index.expectWhole();

    for (const { needle, page, hits } of answers) {
      const inscriptions = states.get(displayHash(hits.tip!.hash));
      expect(inscriptions).toBeDefined();
      const { keys, totalItems } = hits;
      expect({ needle, page, keys, totalItems }).toEqual({
        needle,
        page,
        ...naiveTextSearch(inscriptions!, 'content', [needle], { page, itemsPerPage: 50 }),
      });
    }
    const times = answers.map(({ atMs }) => atMs);
    const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;
    process.stdout.write(
      `${[
        `answers: ${answers.length}, all right; blocks: ${states.size}; inscriptions at the end: ${rows.inscriptions.length}, none lost`,
        `longest time without an answer, before the kill: ${seconds(longestGap(times, beganMs, killedMs))}`,
        `longest time without an answer, from the kill on: ${seconds(longestGap(times, killedMs, startedMs))}`,
        `longest time without an answer, while the node came back: ${seconds(longestGap(times, startedMs, endedMs))}`,
        `longest time without a step of the sync, before the kill: ${seconds(longestGap(steps, beganMs, killedMs))}`,
        `longest time without a step of the sync, from the kill on: ${seconds(longestGap(steps, killedMs, startedMs))}`,
        `all copies there again after the start of the node: ${seconds(wholeMs - startedMs)}`,
        `refused meanwhile: ${JSON.stringify(Object.fromEntries(refusals))}; waited for by the sync: ${[...new Set(sync.problems)].join(', ')}`,
      ].join('\n')}\n`,
    );
    // the cluster continued reads and writes without the node
    expect(times.some((at) => at > killedMs && at < startedMs)).toBe(true);
    expect(steps.some((at) => at > killedMs && at < startedMs)).toBe(true);
  });
});
