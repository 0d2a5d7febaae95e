import { KeyLookUps } from '#accounts/key-look-ups.ts';
import { lease } from '#accounts/lease.store.ts';
import { RateLimiter } from '#accounts/rate-limiter.ts';
import { OperatorConsole } from '#console/operator-console.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';

/** Maximum number of connections: some operators read pages, and one of them acts. */
const connectionsMax = 4;
/** How long a statement may take, in ms. The list of money that is owed reads the whole ledger. */
const statementTimeoutMs = 30_000;

/**
 * The operator's console, with the rights of the role that owns the tables. Null: it is switched off, or the process
 * has a role that answers with the rights of the reader alone.
 */
export function openConsole(
  { config, lifecycle, logger }: CommandContext,
  { url }: Database,
): OperatorConsole | null {
  if (!config.console || (config.role !== 'all' && config.role !== 'orders')) return null;
  const log = logger.child({ part: 'console' });
  const pool = createPool(url, {
    applicationName: 'satscribe console',
    max: connectionsMax,
    statementTimeoutMs,
    onError: (error) => log.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('console connections', () => pool.end());
  const limiter = new RateLimiter({ lease: (asks) => lease(pool, asks) });
  lifecycle.add('limit of typed keys', () => limiter.close());
  return new OperatorConsole({ pool, keys: new KeyLookUps(pool, 0), limiter });
}
