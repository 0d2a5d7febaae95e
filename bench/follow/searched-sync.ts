import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { freePort } from '#kernel/process/free-port.ts';
import { sealedEnd } from '#search/segments/segment-table.ts';
import { readSealState, type SegmentKind } from '#search/segments/segments.ts';
import { mainnetShapedTexts } from '#test/builders/mainnet-shaped.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import { totalItems } from './http-client.ts';
import { nodeSettings, SatscribeProcess } from './satscribe-process.ts';

/** Minimum number of searches. With 500, the slowest hundredth is five searches. */
export const searchesMin = 500;
const drawnTexts = 5000;
/** Pause of the client between two searches, in ms. */
const betweenQuestionsMs = 10;
/**
 * How long the first response may take, in ms. The service first creates the cluster and requests facts from the node.
 */
const firstAnswerWithinMs = 60_000;
/** Interval at which the bench checks whether the sync is complete, in ms. */
const lookEveryMs = 500;
/** Number of unsealed rows. An idle sealer leaves fewer in each of its tables (search/seal/sealer.ts). */
const unsealedMax = 8192;
const settledWithinMs = 120_000;

export interface SearchedSync {
  /** Duration of each search from its request to its last byte, in ms. */
  readonly during: readonly number[];
  readonly idle: readonly number[];
  /** Seconds from the first response until the chain and all secondary indexes are complete. */
  readonly seconds: number;
}

export interface SearchedSyncOptions {
  readonly node: Bitcoind;
  /** The height of the node's tip. */
  readonly height: number;
  readonly seed: string;
  /** Folder that is created for the run, and removed after it. */
  readonly dataDir: string;
}

/** Paths of searches for parts of the chain's texts, and for hashes of complete texts. */
function* searches(seed: string, random: Random): Generator<string, never> {
  const source = mainnetShapedTexts(seed);
  const texts = Array.from({ length: drawnTexts }, () => source.next().body);
  for (;;) {
    const body = texts[random.below(texts.length)] as Uint8Array;
    if (random.unit() < 0.25) {
      yield `/search?hash=${hash('sha256', body)}`;
      continue;
    }
    const characters = Array.from(Buffer.from(body).toString());
    const length = 6 + random.below(9);
    const from = random.below(Math.max(1, characters.length - length));
    const needle = characters
      .slice(from, from + length)
      .join('')
      .trim();
    if (needle !== '') yield `/search?text=${encodeURIComponent(needle)}&phrase=1`;
  }
}

/**
 * Runs `satscribe serve` from an empty folder to the tip of a node with a complete chain. Meanwhile a client sends one
 * search after another, from the first search that succeeds until every block and every index is complete. Then it
 * measures the same number of searches, at least `searchesMin`, on the same data when the service is idle: sealed and
 * vacuumed.
 */
export async function searchedSync({
  node,
  height,
  seed,
  dataDir,
}: SearchedSyncOptions): Promise<SearchedSync> {
  rmSync(dataDir, { recursive: true, force: true });
  const port = await freePort();
  const satscribe = await SatscribeProcess.start(
    ['serve', '--port', String(port)],
    dataDir,
    nodeSettings(node),
  );
  let database: pg.Client | null = null;
  try {
    const ask = asker(`http://127.0.0.1:${port}`, seed);
    await firstAnswer(ask, satscribe);
    const startedAt = performance.now();
    database = await connectClient((await attachEmbeddedPostgres(dataDir)).url, 'bench');
    const during = await askUntil(ask, synced(database, height));
    const seconds = (performance.now() - startedAt) / 1000;
    await settle(database);
    const idle: number[] = [];
    while (idle.length < Math.max(searchesMin, during.length)) idle.push(await ask());
    return { during, idle, seconds };
  } finally {
    await database?.end();
    await satscribe.stop();
    rmSync(dataDir, { recursive: true, force: true });
  }
}

/** Sends the next search and pauses. Returns the duration of the search without the pause, in ms. */
type Ask = () => Promise<number>;

function asker(origin: string, seed: string): Ask {
  const paths = searches(seed, seededRandom(`searches ${seed}`));
  return async () => {
    const path = paths.next().value;
    const start = performance.now();
    const total = await totalItems(origin, path);
    const ms = performance.now() - start;
    if (total === null) throw new Error(`${path} was not answered`);
    await delay(betweenQuestionsMs);
    return ms;
  };
}

/** Settles once a search succeeds. This first search is not counted. */
async function firstAnswer(ask: Ask, satscribe: SatscribeProcess): Promise<void> {
  const end = performance.now() + firstAnswerWithinMs;
  const ended = satscribe.ended.then((code) => {
    throw new Error(`satscribe ended with code ${String(code)}`);
  });
  ended.catch(() => undefined);
  for (;;) {
    try {
      await Promise.race([ask(), ended]);
      return;
    } catch (error) {
      if (performance.now() > end) throw error;
      await delay(betweenQuestionsMs);
    }
  }
}

async function askUntil(ask: Ask, isOver: () => Promise<boolean>): Promise<number[]> {
  const times: number[] = [];
  for (let lookedAt = performance.now(); ; ) {
    times.push(await ask());
    if (performance.now() - lookedAt < lookEveryMs) continue;
    if (await isOver()) return times;
    lookedAt = performance.now();
  }
}

/** Returns a function that tells whether all blocks and all indexes are complete. */
function synced(database: pg.Client, height: number): () => Promise<boolean> {
  return async () => {
    const { rows } = await database.query<{ tip_height: number | null }>(
      'SELECT tip_height FROM chain.state',
    );
    if ((rows[0]?.tip_height ?? -1) < height) return false;
    return (await missingIndexes(database)).length === 0;
  };
}

/** Waits for the sealer, then vacuums. Otherwise autovacuum would run during the searches. */
async function settle(database: pg.Client): Promise<void> {
  const end = performance.now() + settledWithinMs;
  for (;;) {
    const { next, segments } = await readSealState(database);
    const kinds = Object.keys(segments) as SegmentKind[];
    if (kinds.every((kind) => next[kind] - sealedEnd(segments[kind]) <= unsealedMax)) break;
    if (performance.now() > end) throw new Error('what was synced was not sealed within two minutes');
    await delay(lookEveryMs);
  }
  await database.query('VACUUM (ANALYZE)');
}
