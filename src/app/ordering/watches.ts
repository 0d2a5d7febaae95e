import { AppError } from '#kernel/errors/app-error.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import { slugsOf } from '#market/sales/sale-context.store.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import { followWatches } from '#watches/following/follow-watches.ts';

/**
 * Matches watches with the index and the mempool's tables, in the processes that index. Runs for the life of the
 * process.
 */
export function startWatches(
  { lifecycle, logger }: CommandContext,
  database: Database,
  network: NetworkParameters,
): void {
  if (lifecycle.signal.aborted) return;
  const log = logger.child({ part: 'watches' });
  const { url } = database;
  lifecycle
    .run('watches', (signal) => followWatches({ url, network, readCollections: slugsOf, signal, log }))
    .catch((error: unknown) => {
      // the index is still served; only watches find nothing
      if (!(error instanceof AppError)) lifecycle.fail(error);
      else log.error({ code: error.code, err: error }, 'watches are no longer followed');
    });
}
