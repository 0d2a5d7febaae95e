import { parseArgs } from 'node:util';
import { startEmbeddedPostgres } from '#embedded-postgres/embedded-postgres.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { generatedChain, indexedChain } from '../index/generated-chain.ts';
import { OptionError } from '../options.ts';
import type { Figure, Report } from '../report.ts';
import { median, percentile } from '../statistics.ts';
import { type EngineUnderBench, openElasticsearch, openPostgres } from './engine-under-bench.ts';
import { httpLoad, type Load } from './http-load.ts';
import { countedMetadata, countedTexts, makeNeedles, metadataNeedles } from './needles.ts';
import { askAll, type Corpora, checkedPerClass, type Measured, warmUpShare } from './questions.ts';

const rareCount = 1000;
const perClass = 200;
/** Share of inscriptions with metadata, about that of mainnet. */
const shareOfMetadata = '0.03';

/** Maximum times in ms. The first is for up to a million inscriptions, the second for more (ten millions). */
const boundsMs: Readonly<Record<string, readonly [small: number, large: number]>> = {
  rareP99Ms: [20, 30],
  commonP99Ms: [500, 500],
  andP95Ms: [80, 80],
  punctuationP99Ms: [100, 1000],
  shortP99Ms: [500, 1000],
  hashP99Ms: [5, 10],
  deepPageP99Ms: [500, 1000],
};
const smallMax = 1_000_000;
const syncPerSecondMin = 20_000;
const indexBytesPerTextByteMax = 2;

const engines = { postgres: openPostgres, elasticsearch: openElasticsearch } as const;

function figuresOf(name: string, { timesMs }: Measured, isLarge: boolean): Figure[] {
  const figures: Figure[] = [];
  const add = (suffix: string, share: number): void => {
    const bounds = boundsMs[`${name}${suffix}`];
    figures.push({
      name: `${name}${suffix}`,
      value: percentile(timesMs, share),
      unit: 'ms',
      ...(bounds === undefined ? {} : { target: { most: isLarge ? bounds[1] : bounds[0] } }),
    });
  };
  if (name === 'rare' || name === 'common') add('P50Ms', 0.5);
  if (name === 'and') add('P95Ms', 0.95);
  add('P99Ms', 0.99);
  return figures;
}

function engineName(name: string): keyof typeof engines {
  if (name === 'postgres' || name === 'elasticsearch') return name;
  throw new OptionError(`--engine must be postgres or elasticsearch, not '${name}'`);
}

/** Builds the engine's index, and measures searches through the search service. */
async function measureEngine(
  open: (databaseUrl: string) => Promise<EngineUnderBench>,
  dataDir: string,
  corpora: Corpora,
): Promise<{ opened: EngineUnderBench; measured: Map<string, Measured> }> {
  const server = await startEmbeddedPostgres({ dataDir });
  const pool = createPool(server.url, { applicationName: 'satscribe bench' });
  try {
    const opened = await open(server.url);
    try {
      const service = createSearchService({ pool, engine: opened.engine });
      return { opened, measured: await askAll(service, corpora) };
    } catch (error) {
      await opened.close();
      throw error;
    }
  } finally {
    await pool.end();
    await server.stop();
  }
}

/** `npm run bench -- search`: builds an engine's index from the tables of a generated chain, and searches it. */
export async function searchBench(args: string[]): Promise<Report> {
  const { values } = parseArgs({
    args,
    options: {
      docs: { type: 'string', default: '1000000' },
      engine: { type: 'string', default: 'postgres' },
      seed: { type: 'string', default: '1' },
    },
  });
  const open = engines[engineName(values.engine)];
  const chain = generatedChain({ ...values, moves: '0', metadata: shareOfMetadata });
  const dataDir = await indexedChain(chain);
  const texts = countedTexts(chain.options);
  const metadata = countedMetadata(chain.options);
  const corpora: Corpora = {
    texts,
    metadata,
    needles: makeNeedles(texts, values.seed, rareCount, perClass),
    metadataNeedles: metadataNeedles(metadata, values.seed, perClass),
    hashes: rareCount,
    seed: values.seed,
  };
  const { opened, measured } = await measureEngine(open, dataDir, corpora);
  try {
    // The folder replaces a node, so no blocks are left to index.
    const settings = { ...opened.settings, BLOCKS_DIR: chain.dir };
    const load = await httpLoad(dataDir, settings, corpora);
    return report(values.engine, corpora, opened, measured, load);
  } finally {
    await opened.close();
  }
}

const bytesOf = (texts: Corpora['metadata']): number =>
  texts.reduce((sum, { text, inscriptions }) => sum + Buffer.byteLength(text) * inscriptions, 0);

function report(
  engine: string,
  corpora: Corpora,
  { syncSeconds, indexBytes, notes }: EngineUnderBench,
  measured: Map<string, Measured>,
  load: Load,
): Report {
  const { texts, metadata, seed } = corpora;
  const inscriptions = texts.reduce((sum, text) => sum + text.inscriptions, 0);
  const withMetadata = metadata.reduce((sum, text) => sum + text.inscriptions, 0);
  const textBytes = bytesOf(texts) + bytesOf(metadata);
  const isLarge = inscriptions > smallMax * 1.5;
  const matched = (name: string): string => {
    const totals = measured.get(name)?.totals ?? [];
    return `${median(totals)} (${Math.min(...totals)} to ${Math.max(...totals)})`;
  };
  return {
    bench: 'search',
    notes: [
      `engine ${engine}; ${inscriptions} inscriptions, ${texts.length} distinct texts, ${withMetadata} with metadata (${metadata.length} distinct): a generated chain, seed ${seed}`,
      ...notes,
      'asked of the search service, one after another: one snapshot, the search, and the records of a page of 100; HTTP is not included',
      `every needle is asked once; tables and code are warm by ${warmUpShare * 100} % of the needles of each class, which are not counted`,
      `counted: ${[...measured].map(([name, { timesMs }]) => `${name} ${timesMs.length}`).join(', ')}; ` +
        `${checkedPerClass} totals of each class and all deep pages' are compared with a scan of all texts`,
      `requestsPerSecond: ${load.timesMs.length} answers of a whole service over HTTP to 32 clients, p50 ${Math.round(percentile([...load.timesMs], 0.5))} ms, p99 ${Math.round(percentile([...load.timesMs], 0.99))} ms`,
      ...[...measured.keys()].map((name) => `inscriptions that match, ${name}: median ${matched(name)}`),
    ],
    figures: [
      ...[...measured].flatMap(([name, each]) => figuresOf(name, each, isLarge)),
      { name: 'requestsPerSecond', value: load.requestsPerSecond, unit: '/s' },
      {
        name: 'syncPerSecond',
        value: inscriptions / syncSeconds,
        unit: '/s',
        ...(engine === 'elasticsearch' ? { target: { least: syncPerSecondMin } } : {}),
      },
      {
        name: 'indexBytesPerTextByte',
        value: indexBytes / textBytes,
        unit: '',
        ...(engine === 'elasticsearch' ? { target: { most: indexBytesPerTextByteMax } } : {}),
      },
    ],
    details: [
      { name: 'sync', value: syncSeconds, unit: 's' },
      { name: 'index', value: indexBytes / 1e6, unit: 'MB' },
      { name: 'text of all inscriptions', value: textBytes / 1e6, unit: 'MB' },
    ],
  };
}
