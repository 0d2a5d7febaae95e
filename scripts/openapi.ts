/** Makes docs/openapi.json from the routes. With --check it only tests whether the file is up to date. */
import { readFileSync, writeFileSync } from 'node:fs';
import pg from 'pg';
import { pino } from 'pino';
import { buildApp } from '#http/app.ts';
import { documentOf } from '#http/reference/reference.routes.ts';
import { networks } from '#kernel/primitives/network.ts';
import { version } from '#kernel/process/version.ts';
import { createHealth } from '#kernel/reports/health.ts';
import { createMetrics } from '#kernel/reports/metrics.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';

const file = 'docs/openapi.json';

/** Returns the description that the app serves. No database is used. */
async function servedDocument(): Promise<string> {
  const pool = new pg.Pool({ max: 1 });
  const engine = createPostgresEngine();
  const app = buildApp({
    pool,
    search: createSearchService({ pool, engine }),
    network: networks.mainnet,
    logger: pino({ level: 'silent' }),
    operations: {
      version,
      role: 'all',
      startedAt: new Date(),
      health: createHealth(),
      metrics: createMetrics((name, error) => {
        throw new Error(`${name} could not be read`, { cause: error });
      }),
      pool,
      lagMaxBlocks: 3,
      standsBy: () => false,
    },
  });
  await app.ready();
  try {
    return documentOf(app);
  } finally {
    await app.close();
    await engine.close();
    await pool.end();
  }
}

const text = await servedDocument();
if (process.argv.includes('--check')) {
  if (readFileSync(file, 'utf8') !== text) {
    console.error(`${file} is not what the routes say: run npm run openapi`);
    process.exitCode = 1;
  }
} else {
  writeFileSync(file, text);
}
