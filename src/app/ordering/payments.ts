import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import { followPayments } from '#payments/follow/follow-payments.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';

/**
 * Searches blocks for payments to watched scripts, and with a node its mempool too. Runs for the life of the process.
 */
export function startPayments(
  { lifecycle, logger }: CommandContext,
  database: Database,
  source: BlockSource | LiveBlockSource,
  node: BitcoinNode | null,
): void {
  if (lifecycle.signal.aborted) return;
  const log = logger.child({ part: 'payments' });
  lifecycle
    .run('payments', (signal) => followPayments({ url: database.url, source, node, signal, log }))
    .catch((error: unknown) => {
      // the index is still served; only orders must wait for their payments
      if (!(error instanceof AppError)) lifecycle.fail(error);
      else log.error({ code: error.code, err: error }, 'payments are no longer followed');
    });
}
