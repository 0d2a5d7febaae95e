import { urlProblem } from '#outgoing/stranger-url.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openAnsweringPool } from '#src/app/database/answering-pool.ts';
import type { AnsweringDatabase } from '#src/app/database/database.ts';
import { openWebhookKeys } from '#src/app/ordering/webhooks.ts';
import { KeyWatches } from '#watches/key-watches.ts';

/**
 * Maximum number of connections for watches. Clients poll findings, and must not wait for searches. One connection
 * listens for new findings.
 */
const connectionsMax = 3;
const statementTimeoutMs = 15_000;

/** Opens the watches of keys in a process that answers requests. */
export function openKeyWatches(
  { config, lifecycle, logger }: CommandContext,
  database: AnsweringDatabase,
): KeyWatches {
  const log = logger.child({ part: 'watches' });
  const pool = openAnsweringPool({ lifecycle, log }, database, {
    applicationName: 'satscribe watches',
    part: 'connections of watches',
    max: connectionsMax,
    statementTimeoutMs,
  });
  return new KeyWatches({
    pool,
    secrets: () => openWebhookKeys(config),
    urlProblem: (url) => urlProblem(url, { allowPrivate: config.allowPrivateUrls }),
  });
}
