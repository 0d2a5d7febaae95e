import pg from 'pg';
import type { App, AppDependencies } from '#http/server/routes/app-dependencies.ts';
import { buildCheckedApp } from './checked-app.ts';
import { readerParts } from './reader-parts.ts';

/** An app without a database, for requests that need none. A test may add routes before the app is ready. */
export function createRoutesApp(
  options: Pick<AppDependencies, 'bodyRoom' | 'trustedProxies' | 'node'> = {},
): App {
  const pool = new pg.Pool({ max: 1 });
  const app = buildCheckedApp({
    ...readerParts(pool),
    ...options,
  });
  app.addHook('onClose', () => pool.end());
  return app;
}
