import { performance } from 'node:perf_hooks';
import type pg from 'pg';
import { request } from 'undici';
import { buildApp } from '#http/app.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { testOperations } from '#test/support/http/operations.ts';
import { silentLogger } from '#test/support/http-app.ts';
import type { Figure } from '../report.ts';
import { median } from '../statistics.ts';

const exportsOfEach = 3;
const lineEnd = 0x0a;

interface Exported {
  readonly rows: number;
  readonly ms: number;
  /** Peak of the resident memory in MB, minus the memory before the export. */
  readonly grownMB: number;
}

async function exported(url: string): Promise<Exported> {
  const before = process.memoryUsage.rss();
  let [rows, pieces, most] = [0, 0, before];
  const started = performance.now();
  const { statusCode, body } = await request(url);
  if (statusCode !== 200) throw new Error(`${url}: ${statusCode} ${await body.text()}`);
  for await (const piece of body) {
    const bytes = piece as Buffer;
    for (let at = bytes.indexOf(lineEnd); at !== -1; at = bytes.indexOf(lineEnd, at + 1)) rows++;
    // not for each piece, because a read takes a tenth of a millisecond
    if (pieces++ % 100 === 0) most = Math.max(most, process.memoryUsage.rss());
  }
  return { rows, ms: performance.now() - started, grownMB: (most - before) / 1e6 };
}

/**
 * Measures the export of all sales of a collection over HTTP: its speed and its memory. Client and service are in one
 * process.
 */
export async function exportedRows(pool: pg.Pool, slug: string, sales: number): Promise<Figure[]> {
  const search = createSearchService({ pool, engine: createPostgresEngine() });
  const operations = testOperations(pool);
  const app = buildApp({ pool, search, network: networks.mainnet, logger: silentLogger(), operations });
  const origin = await app.listen({ port: 0, host: '127.0.0.1' });
  const url = (format: string): string => `${origin}/marketplace/data/export?slug=${slug}&format=${format}`;
  try {
    // the first export builds the list of sales; another figure measures its walk
    await exported(url('ndjson'));
    const [lines, table]: [Exported[], Exported[]] = [[], []];
    for (let nth = 0; nth < exportsOfEach; nth++) {
      lines.push(await exported(url('ndjson')));
      table.push(await exported(url('csv')));
    }
    if (lines.some(({ rows }) => rows !== sales)) throw new Error('an export has all sales');
    const rate = (of: readonly Exported[]): number => median(of.map(({ rows, ms }) => (rows * 1000) / ms));
    return [
      { name: 'exportRowsPerSecond', value: rate(lines), unit: '1/s', target: { least: 50_000 } },
      { name: 'exportCsvRowsPerSecond', value: rate(table), unit: '1/s' },
      {
        name: 'exportGrownMB',
        value: Math.max(...[...lines, ...table].map(({ grownMB }) => grownMB)),
        unit: 'MB',
      },
    ];
  } finally {
    await app.close();
  }
}
