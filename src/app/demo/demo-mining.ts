import type { BatchRpc } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Lifecycle } from '#kernel/process/lifecycle.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { openDescriptor } from './demo-coins.ts';

/** Long enough to see a payment wait, short enough not to wait for it. */
const blockEveryMs = 10_000;
const lookEveryMs = 1000;

/** Mines a block ten seconds after a transaction began to wait in the mempool, until the lifecycle ends. */
export async function mineWhatWaits(
  { lifecycle, logger }: { readonly lifecycle: Lifecycle; readonly logger: Logger },
  rpc: BatchRpc,
): Promise<void> {
  const log = logger.child({ part: 'demo' });
  let since: number | null = null;
  while (!lifecycle.signal.aborted) {
    try {
      const { size } = await rpc.call<{ size: number }>('getmempoolinfo');
      if (size === 0) since = null;
      else since ??= performance.now();
      if (since !== null && performance.now() - since >= blockEveryMs) {
        await rpc.call('generatetodescriptor', [1, openDescriptor]);
        since = null;
      }
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      log.debug({ err: error }, 'no block is mined');
    }
    await lifecycle.pause(lookEveryMs).catch(() => undefined);
  }
}
