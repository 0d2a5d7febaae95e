import { hash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { performance } from 'node:perf_hooks';
import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { missingIndexes } from '#indexer/apply/secondary-indexes.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { sealedEnd } from '#search/segments/segment-table.ts';
import { readSealState, type SegmentKind } from '#search/segments/segments.ts';
import { mainnetShapedTexts } from '#test/builders/mainnet-shaped.ts';
import { type Random, seededRandom } from '#test/builders/random.ts';
import { freePort } from '#test/support/free-port.ts';
import type { Bitcoind } from '#test/support/node/bitcoind.ts';
import { totalItems } from './http-client.ts';
import { nodeSettings, SatscribeProcess } from './satscribe-process.ts';

/** Of so many the slowest hundredth is five searches. */
export const searchesMin = 500;
const drawnTexts = 5000;
/** A client that thinks for so long between two searches. */
const betweenQuestionsMs = 10;
/** Until the first search is answered: a cluster is made, the node is asked what it is. */
const firstAnswerWithinMs = 60_000;
/** While it syncs it is looked so often whether it is done. */
const lookEveryMs = 500;
/** The sealer leaves less than this unsealed at rest (search/seal/sealer.ts), in each of its tables. */
const unsealedMax = 8192;
const settledWithinMs = 120_000;

export interface SearchedSync {
  /** Milliseconds of each search, from its request to its last byte. */
  readonly during: readonly number[];
  readonly idle: readonly number[];
  /** From the first answer until the chain is indexed with all its indexes. */
  readonly seconds: number;
}

export interface SearchedSyncOptions {
  readonly node: Bitcoind;
  /** Of the node's tip. */
  readonly height: number;
  readonly seed: string;
  /** Made anew, and removed. */
  readonly dataDir: string;
}

/** Paths of searches for pieces of texts of the chain, and for hashes of whole ones. */
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
 * `satscribe serve` from nothing to the tip of a node that has a whole chain, while a client asks one search after the other: from
 * the first moment in which searches are answered until every block is indexed and every index is there. Then as many searches, at
 * least `searchesMin`, of the same data at rest: sealed and vacuumed.
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

/** Asks the next search; gives its milliseconds when the client has thought about the answer. */
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

/** Settles once searches are answered: that one is not counted. */
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

/** Whether all blocks are there, with all indexes. */
function synced(database: pg.Client, height: number): () => Promise<boolean> {
  return async () => {
    const { rows } = await database.query<{ tip_height: number | null }>(
      'SELECT tip_height FROM chain.state',
    );
    if ((rows[0]?.tip_height ?? -1) < height) return false;
    return (await missingIndexes(database)).length === 0;
  };
}

/** Waits until the sealer has done its work, then vacuums: autovacuum would come in the midst of the searches. */
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
