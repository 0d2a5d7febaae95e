import type { BatchRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import type { Lifecycle } from '#kernel/process/lifecycle.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { openDescriptor } from './demo-coins.ts';

/**
 * How long a payment waits for its block, in ms: long enough to be seen, and short enough to wait for.
 */
const blockEveryMs = 10_000;
/**
 * How often a block is mined for an etching that waits for depth, in ms. These blocks show nothing, so they come
 * faster.
 */
const depthEveryMs = 3000;
const lookEveryMs = 1000;

/**
 * Mines blocks until the lifecycle ends. A block is mined ten seconds after a transaction began to wait in the mempool,
 * and every three seconds while an order waits for the depth of its commit.
 */
export async function mineWhatWaits(
  { lifecycle, logger }: { readonly lifecycle: Lifecycle; readonly logger: Logger },
  rpc: BatchRpc,
  isDepthAwaited: () => Promise<boolean>,
): Promise<void> {
  const log = logger.child({ part: 'demo' });
  let since: number | null = null;
  while (!lifecycle.signal.aborted) {
    try {
      const { size } = await rpc.call<{ size: number }>('getmempoolinfo');
      const isForDepth = size === 0 && (await isDepthAwaited());
      if (size === 0 && !isForDepth) since = null;
      else since ??= performance.now();
      if (since !== null && performance.now() - since >= (isForDepth ? depthEveryMs : blockEveryMs)) {
        await rpc.call('generatetodescriptor', [1, openDescriptor]);
        since = null;
      }
    } catch (thrown) {
      const error = postgresFailure(thrown);
      // the node or the database may be unreachable for some time
      if (!(error instanceof AppError)) throw error;
      log.debug({ err: error }, 'no block could be mined');
    }
    await lifecycle.pause(lookEveryMs).catch(() => undefined);
  }
}
