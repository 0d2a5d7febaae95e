import type pg from 'pg';
import type { AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { networks } from '#kernel/primitives/network.ts';
import { createPostgresEngine } from '#search/postgres/postgres-engine.ts';
import { createSearchService } from '#search/service/search-service.ts';
import { silentLogger } from '#test/support/http-app.ts';
import { testOperations } from './operations.ts';

type ReaderParts = Pick<AppDependencies, 'pool' | 'search' | 'network' | 'logger' | 'operations'>;

/** Parts of every app that answers from a database. Searches use Postgres, and nothing is logged. */
export function readerParts(
  pool: pg.Pool,
  network: AppDependencies['network'] = networks.regtest,
): ReaderParts {
  return {
    pool,
    search: createSearchService({ pool, engine: createPostgresEngine() }),
    network,
    logger: silentLogger(),
    operations: testOperations(pool),
  };
}
