import { hash } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { parseArgs } from 'node:util';
import type { SearchService } from '#kernel/contracts/search-service.ts';
import { startEmbeddedPostgres } from '#kernel/pg/embedded/embedded-postgres.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { createPostgresEngine } from '#search/postgres-engine.ts';
import { createSearchService } from '#search/search-service.ts';
import { seededRandom } from '../generate/random.ts';
import { generatedChain, indexedChain } from '../index/generated-chain.ts';
import type { Figure, Report } from '../report.ts';
import { median, percentile } from '../statistics.ts';
import {
  type CountedText,
  countedTexts,
  inscriptionsWith,
  makeNeedles,
  type NeedleClass,
} from './needles.ts';

const itemsPerPage = 100; // the interface's default
const rareCount = 1000;
const perClass = 200;
const warmUpShare = 0.1; // needles of each class that are asked before, to warm code and caches, and not measured
const checkedPerClass = 10;

/** Upper bounds of the issue, for 1,000,000 inscriptions. */
const boundsMs: Readonly<Record<string, number>> = {
  rareP99Ms: 25,
  commonP99Ms: 500,
  andP99Ms: 100,
  punctuationP99Ms: 100,
  shortP99Ms: 500,
  hashP99Ms: 5,
  deepPageP99Ms: 500,
};

interface Measured {
  readonly timesMs: number[];
  readonly totals: number[];
}

/** Asks one question after the other; gives how long each took and how many inscriptions it matched. */
async function ask(questions: readonly (() => Promise<number>)[]): Promise<Measured> {
  const timesMs: number[] = [];
  const totals: number[] = [];
  const warmUp = Math.floor(questions.length * warmUpShare);
  for (const [index, question] of questions.entries()) {
    const start = performance.now();
    const total = await question();
    if (index < warmUp) continue;
    timesMs.push(performance.now() - start);
    totals.push(total);
  }
  return { timesMs, totals };
}

function textQuestion(
  service: SearchService,
  texts: readonly CountedText[],
  name: NeedleClass,
  needles: readonly string[],
  index: number,
): () => Promise<number> {
  // a needle may hold commas; several are joined by them
  const phrase = needles.length === 1;
  const expected = index < checkedPerClass || name === 'deepPage' ? inscriptionsWith(texts, needles) : null;
  const pages = Math.ceil((expected ?? 0) / itemsPerPage);
  // the later half of the pages, the last among them
  const page = name === 'deepPage' ? Math.max(1, pages - ((index * 7919) % Math.ceil(pages / 2 + 1))) : 1;
  return async () => {
    const { value } = await service.textSearch({
      corpus: 'content',
      text: needles.join(','),
      phrase,
      page,
      itemsPerPage,
    });
    if (expected !== null && value.totalItems !== expected) {
      throw new Error(
        `${JSON.stringify(needles)}: ${value.totalItems} inscriptions, a scan finds ${expected}`,
      );
    }
    if (name === 'deepPage' && value.records.length === 0)
      throw new Error(`page ${page} of ${pages} is empty`);
    return value.totalItems;
  };
}

function hashQuestions(
  service: SearchService,
  texts: readonly CountedText[],
  seed: string,
): (() => Promise<number>)[] {
  const random = seededRandom(`hashes ${seed}`);
  const chosen = new Set<Uint8Array>();
  while (chosen.size < Math.min(rareCount / 2, texts.length))
    chosen.add((texts[random.below(texts.length)] as CountedText).body);
  return [...chosen].flatMap((body) => {
    const unknown = Buffer.alloc(32);
    random.fill(unknown, 0, 32);
    return [hash('sha256', body, 'buffer'), unknown].map((wanted) => async () => {
      const { value } = await service.hashSearch({ hash: wanted, page: 1, itemsPerPage });
      if (value.totalItems > 0 !== (wanted !== unknown)) throw new Error('a hash gives a wrong answer');
      return value.totalItems;
    });
  });
}

function figuresOf(name: string, { timesMs }: Measured): Figure[] {
  const figures: Figure[] = [];
  const add = (suffix: string, share: number): void => {
    const most = boundsMs[`${name}${suffix}`];
    const value = percentile(timesMs, share);
    figures.push({
      name: `${name}${suffix}`,
      value,
      unit: 'ms',
      ...(most === undefined ? {} : { target: { most } }),
    });
  };
  if (name === 'rare' || name === 'common') add('P50Ms', 0.5);
  add('P99Ms', 0.99);
  return figures;
}

/** `npm run bench -- search`: latencies of searches on the chain of the index bench. */
export async function searchBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      docs: { type: 'string', default: '1000000' },
      moves: { type: 'string', default: '0' },
      seed: { type: 'string', default: '1' },
    },
  });
  const chain = generatedChain(values);
  const dataDir = await indexedChain(chain);
  const texts = countedTexts(chain.options);
  const needles = makeNeedles(texts, values.seed, rareCount, perClass);
  const server = await startEmbeddedPostgres({ dataDir });
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  const engine = createPostgresEngine();
  const service = createSearchService({ pool, engine });
  const measured = new Map<string, Measured>();
  try {
    for (const [name, list] of Object.entries(needles) as [NeedleClass, string[][]][]) {
      measured.set(
        name,
        await ask(list.map((each, index) => textQuestion(service, texts, name, each, index))),
      );
    }
    measured.set('hash', await ask(hashQuestions(service, texts, values.seed)));
  } finally {
    await engine.close();
    await pool.end();
    await server.stop();
  }
  const inscriptions = texts.reduce((sum, text) => sum + text.inscriptions, 0);
  const matched = (name: string): string => {
    const totals = measured.get(name)?.totals ?? [];
    return `${median(totals)} (${Math.min(...totals)} to ${Math.max(...totals)})`;
  };
  return {
    bench: 'search',
    notes: [
      `${inscriptions} inscriptions, ${texts.length} distinct texts: the generated chain of the index bench and its blocks at the tip, seed ${values.seed}`,
      'asked of the search service, one after the other: one snapshot, the search, and the records of a page of 100; HTTP is not included',
      `every needle is asked once; tables and code are warm by ${warmUpShare * 100} % of the needles of each class, which are not counted`,
      `counted: ${[...measured].map(([name, { timesMs }]) => `${name} ${timesMs.length}`).join(', ')}; ` +
        `${checkedPerClass} totals of each class and all deep pages' are compared with a scan of all texts`,
      ...[...measured.keys()].map((name) => `inscriptions that match, ${name}: median ${matched(name)}`),
    ],
    figures: [...measured].flatMap(([name, each]) => figuresOf(name, each)),
    details: [],
  };
}
