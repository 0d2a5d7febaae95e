import pg from 'pg';
import type { App, AppDependencies } from '#http/server/app-dependencies.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { buildCheckedApp } from './checked-app.ts';
import { silentLogger } from './http-app.ts';
import { testOperations } from './operations.ts';

/** The app without a database, for requests that need none. A test may add routes before it is ready. */
export function createRoutesApp(
  options: Pick<AppDependencies, 'bodyRoom' | 'trustedProxies' | 'node'> = {},
): App {
  const pool = new pg.Pool({ max: 1 });
  const engine = createPostgresEngine();
  const app = buildCheckedApp({
    pool,
    search: createSearchService({ pool, engine }),
    network: networks.regtest,
    logger: silentLogger(),
    operations: testOperations(pool),
    ...options,
  });
  app.addHook('onClose', async () => {
    await engine.close();
    await pool.end();
  });
  return app;
}
