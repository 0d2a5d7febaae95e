import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import { seededRandom } from '#test/builders/random.ts';
import { get } from '../follow/http-client.ts';
import { SatscribeProcess } from '../follow/satscribe-process.ts';
import { generatedChain, indexedChain } from '../index/generated-chain.ts';
import { numberOption } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { percentile } from '../statistics.ts';
import { firstViews } from './first-view.ts';
import { LightClient } from './light-client.ts';

const connections = 64;
const warmUpMs = 3000;
const measuredMs = 10_000;
/** Number of ids that clients request repeatedly until the next block. */
const popular = 1000;
const idsPerPage = 100;
const p99MostMs = 25;

interface Load {
  readonly perSecond: number;
  readonly timesMs: readonly number[];
}

/**
 * Measures requests of several clients. Each client requests the path that `pathOf` returns, waits for the response,
 * and continues with the next path.
 */
async function load(origin: string, pathOf: (question: number) => string): Promise<Load> {
  const clients = await Promise.all(Array.from({ length: connections }, () => LightClient.open(origin)));
  const timesMs: number[] = [];
  const startAt = performance.now() + warmUpMs;
  const endAt = startAt + measuredMs;
  let question = 0;
  try {
    await Promise.all(
      clients.map(async (client) => {
        for (let now = performance.now(); now < endAt; ) {
          await client.get(pathOf(question++));
          const then = performance.now();
          if (now >= startAt) timesMs.push(then - now);
          now = then;
        }
      }),
    );
  } finally {
    for (const client of clients) client.close();
  }
  return { perSecond: timesMs.length / (measuredMs / 1000), timesMs };
}

/** Picks ids from all parts of the list, without repetitions and in random order. */
async function idsOf(origin: string, inscriptions: number, wanted: number, seed: string): Promise<string[]> {
  const random = seededRandom(`api ${seed}`);
  const pages = Math.floor(inscriptions / idsPerPage);
  const step = Math.max(1, Math.floor((pages * idsPerPage) / wanted));
  const ids: string[] = [];
  for (let page = 0; page < pages; page += step) {
    const { text } = await get(origin, `/inscriptions/${page}`);
    ids.push(...(JSON.parse(text) as { ids: string[] }).ids);
  }
  return ids
    .map((id) => [random.unit(), id] as const)
    .sort(([a], [b]) => a - b)
    .map(([, id]) => id);
}

/**
 * `npm run bench -- api`: look-ups by id over HTTP, with and without responses that are cached until the next block,
 * and the first page in a browser.
 */
export async function apiBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: { docs: { type: 'string', default: '1000000' }, seed: { type: 'string', default: '1' } },
  });
  const docs = numberOption('docs', values.docs, popular);
  const chain = generatedChain({ docs: values.docs, moves: '0', seed: values.seed });
  const dataDir = await indexedChain(chain);
  // The folder replaces a node, so no blocks are left to index.
  const service = await SatscribeProcess.start(['serve', '--port', '0'], dataDir, { BLOCKS_DIR: chain.dir });
  try {
    const origin = await service.ready();
    const ids = await idsOf(origin, docs, 100_000, values.seed);
    const [some, others] = [ids.slice(0, popular), ids.slice(popular)];
    const ofList = (list: readonly string[]) => (question: number) =>
      `/inscription/${list[question % list.length] ?? ''}`;
    const uncached = await load(origin, ofList(others));
    const cached = await load(origin, ofList(some));
    return report(docs, others.length, { cached, uncached, views: await firstViews(origin) });
  } finally {
    await service.stop();
  }
}

interface Measured {
  readonly cached: Load;
  readonly uncached: Load;
  readonly views: readonly Figure[];
}

function report(docs: number, others: number, { cached, uncached, views }: Measured): Report {
  const figures: Figure[] = [
    { name: 'cachedPerSecond', value: cached.perSecond, unit: '/s', target: { least: 3000 } },
    { name: 'cachedP99Ms', value: percentile(cached.timesMs, 0.99), unit: 'ms', target: { most: p99MostMs } },
    { name: 'uncachedPerSecond', value: uncached.perSecond, unit: '/s', target: { least: 1000 } },
    {
      name: 'uncachedP99Ms',
      value: percentile(uncached.timesMs, 0.99),
      unit: 'ms',
      target: { most: p99MostMs },
    },
  ];
  figures.push(...views);
  return {
    bench: 'api',
    notes: [
      `GET /inscription/<id> as JSON of ${docs} inscriptions, ${connections} connections, ${measuredMs / 1000} s each after ${warmUpMs / 1000} s`,
      `cached: ${popular} ids again and again. uncached: ${others} ids in turn, each with a snapshot of its own until it is asked for again`,
      'clients, service and Postgres share the cores',
      'homeLcpMs, homeBytes: the first page in Chromium with an empty cache, the median of 7 loads; bytes as sent, except inscribed contents and the fonts of their scripts',
    ],
    figures,
    details: [
      { name: 'cached, P50', value: percentile(cached.timesMs, 0.5), unit: 'ms' },
      { name: 'uncached, P50', value: percentile(uncached.timesMs, 0.5), unit: 'ms' },
    ],
  };
}
