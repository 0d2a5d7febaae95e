import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import pg from 'pg';
import { attachEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { seededRandom } from '#test/builders/random.ts';
import { RegtestChain } from '#test/builders/regtest/regtest-chain.ts';
import { newKey, newWatch } from '#test/support/watches/new-watch.ts';
import { decideWords, WatchIndex } from '#watches/matching/watch-index.ts';
import { watchesMax } from '#watches/store/watches.store.ts';
import { withBenchNode } from '../bench-node.ts';
import { broadcastAt } from '../broadcast-at.ts';
import { nodeSettings, SatscribeProcess } from '../follow/satscribe-process.ts';
import { nameOption, numberOption } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { median, percentile } from '../statistics.ts';
import { floodFigures } from './flood-figures.ts';
import { bodyOf, revealOf, searchOf } from './generated-searches.ts';

// lets the bench collect garbage before it measures memory
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

const parts = ['block', 'webhooks', 'flood'] as const;
/** Time between two reveals, in ms. A round takes at most 200 ms, so most reveals have a round of their own. */
const betweenRevealsMs = 500;

/** Measures what many searches cost a block, and how long a webhook takes after its transaction is in the mempool. */
export async function watchesBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: 'string' },
      searches: { type: 'string', default: '10000' },
      reveals: { type: 'string', default: '5000' },
      told: { type: 'string', default: '100' },
      rounds: { type: 'string', default: '9' },
      seed: { type: 'string', default: '1' },
    },
  });
  const only = values.only === undefined ? null : nameOption('only', values.only, parts);
  const searches = numberOption('searches', values.searches, 1);
  const reveals = numberOption('reveals', values.reveals, 1);
  const told = numberOption('told', values.told, 1);
  const rounds = numberOption('rounds', values.rounds, 1);
  const figures: Figure[] = [];
  if (only === null || only === 'block')
    figures.push(...blockFigures({ searches, reveals, rounds, seed: values.seed }));
  if (only === null || only === 'flood') figures.push(...(await floodFigures()));
  if (only === null || only === 'webhooks')
    figures.push(
      ...(await withBenchNode('watches', (node, dir) =>
        webhookFigures(node, dir, { searches, told, seed: values.seed }),
      )),
    );
  return {
    bench: 'watches',
    notes: [
      `block: ${searches} searches, ${reveals} reveals, ${rounds} rounds; processor time of matching alone, warm`,
      'memory: heap and buffers of the index of these searches beyond the bytes of their needles, for each search',
      `webhooks: ${told} reveals beside a real node, one each ${betweenRevealsMs} ms, from just before their broadcast to the webhook`,
      'flood: 1,000 findings of each of 100 watches in one transaction, while no receiver answers',
    ],
    figures,
    details: [],
  };
}

function blockFigures(options: {
  readonly searches: number;
  readonly reveals: number;
  readonly rounds: number;
  readonly seed: string;
}): Figure[] {
  const random = seededRandom(options.seed);
  const searches = Array.from({ length: options.searches }, (_, nth) => searchOf(bodyOf(random, nth)));
  const block = Array.from({ length: options.reveals }, (_, nth) => revealOf(random, nth));
  const before = inUse();
  const index = new WatchIndex(searches.map((search, watch) => ({ watch, search })));
  const bytes = inUse() - before;
  const needles = searches.flatMap((search) => search.needles);
  const text = needles.reduce((sum, needle) => sum + Buffer.byteLength(needle), 0);
  let found = 0;
  const times = Array.from({ length: options.rounds + 1 }, () => {
    found = 0;
    const { user, system } = process.cpuUsage();
    for (const reveal of block) {
      for (const words of index.match(reveal, () => found++)) found += resultOf(decideWords(words)).length;
    }
    const after = process.cpuUsage();
    return (after.user + after.system - user - system) / 1000;
  }).slice(1);
  return [
    { name: 'block_ms', value: median(times), unit: 'ms of processor time', target: { most: 100 } },
    { name: 'block_p99_ms', value: percentile(times, 0.99), unit: 'ms of processor time' },
    { name: 'found', value: found, unit: 'matches' },
    { name: 'needle_bytes', value: index.needleBytes, unit: 'bytes beyond its text', target: { most: 100 } },
    { name: 'search_bytes', value: (bytes - text) / searches.length, unit: 'bytes beyond its needles' },
  ];
}

function resultOf<Result>(work: Generator<void, Result>): Result {
  let step = work.next();
  while (step.done !== true) step = work.next();
  return step.value;
}

function inUse(): number {
  collectGarbage();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}

async function webhookFigures(
  node: Parameters<typeof nodeSettings>[0],
  dir: string,
  { searches, told, seed }: { readonly searches: number; readonly told: number; readonly seed: string },
): Promise<Figure[]> {
  const chain = await RegtestChain.start(node.rpc, 110 + told);
  const dataDir = join(dir, 'data');
  const env = { ...nodeSettings(node), ALLOW_PRIVATE_URLS: 'true' };
  const service = await SatscribeProcess.start(['serve', '--port', '0'], dataDir, env);
  const heard = new Map<string, (at: number) => void>();
  const hooks = createServer((received, answer) => {
    const chunks: Buffer[] = [];
    received.on('data', (chunk: Buffer) => chunks.push(chunk));
    received.on('end', () => {
      answer.end();
      const { findings } = JSON.parse(Buffer.concat(chunks).toString()) as {
        findings: { inscriptionId: string; state: string }[];
      };
      for (const { inscriptionId, state } of findings)
        if (state === 'pending') heard.get(inscriptionId)?.(performance.now());
    });
  });
  await new Promise<void>((done) => {
    hooks.listen(0, '127.0.0.1', done);
  });
  await service.ready();
  const { url } = await attachEmbeddedPostgres(dataDir);
  const pool = new pg.Pool({ connectionString: url, max: 2 });
  try {
    await storeSearches(pool, { searches, seed });
    const { port } = hooks.address() as AddressInfo;
    const times = await revealTimes(pool, chain, { told, url: `http://127.0.0.1:${port}/`, heard });
    return [
      { name: 'mempool_to_webhook_p50_ms', value: percentile(times, 0.5), unit: 'ms' },
      {
        name: 'mempool_to_webhook_p95_ms',
        value: percentile(times, 0.95),
        unit: 'ms',
        target: { most: 2000 },
      },
      { name: 'mempool_to_webhook_max_ms', value: Math.max(...times), unit: 'ms' },
    ];
  } finally {
    await pool.end();
    await service.stop();
    hooks.close();
  }
}

/** Stores searches of other keys, as many as a key may have for each. */
async function storeSearches(
  pool: pg.Pool,
  { searches, seed }: { readonly searches: number; readonly seed: string },
): Promise<void> {
  const random = seededRandom(seed);
  let key = 0;
  for (let nth = 0; nth < searches; nth++) {
    if (nth % watchesMax === 0) key = await newKey(pool);
    await newWatch(pool, key, 'search', bodyOf(random, nth));
  }
}

async function revealTimes(
  pool: pg.Pool,
  chain: RegtestChain,
  options: { readonly told: number; readonly url: string; readonly heard: Map<string, (at: number) => void> },
): Promise<number[]> {
  await newWatch(pool, await newKey(pool), 'search', { text: 'watched reveal', webhookUrl: options.url });
  // the service needs some time to index the chain and to load the mempool
  for (let left = 600; left > 0 && !(await isFollowed(pool, await chain.height())); left--) await sleep(200);
  const times: number[] = [];
  const waits: Promise<void>[] = [];
  for (let nth = 0; nth < options.told; nth++) {
    const { commit, reveal } = await chain.inscribe({
      contentType: 'text/plain',
      body: `watched reveal ${nth}`,
    });
    await chain.broadcast(commit);
    const at = new Promise<number>((done) => {
      options.heard.set(reveal.id(), done);
    });
    const sentAt = await broadcastAt(chain, reveal);
    waits.push(at.then((heardAt) => void times.push(heardAt - sentAt)));
    await sleep(betweenRevealsMs);
  }
  await Promise.all(waits);
  return times;
}

async function isFollowed(pool: pg.Pool, height: number): Promise<boolean> {
  const { rows } = await pool.query<{ followed: boolean }>(
    `SELECT (SELECT tip_height FROM chain.state) = $1 AND EXISTS (SELECT FROM chain.pending_state)
            AND EXISTS (SELECT FROM service.watches_offset WHERE height = $1) AS followed`,
    [height],
  );
  return rows[0]?.followed === true;
}
