import { mempoolState } from '#chain/pending/pending.queries.ts';
import { withSnapshot } from '#chain/snapshot/snapshot.ts';
import { guardOf } from '#http/server/access/guard-routes.ts';
import { atOnce } from '#http/server/at-once.ts';
import type { Operations } from '#http/server/operations.ts';
import type { App } from '#http/server/routes/app-dependencies.ts';
import { standingAt } from './chain-lag.ts';
import { DaySamples, type Standpoint, sampleEveryMs } from './day-samples.ts';

/**
 * How long a read for a sample may take, in ms. After that the sample gets unknown values, and the read is cancelled
 * because its result is no longer needed.
 */
const readMaxMs = 5000;

/**
 * Records a sample of the process each minute, for `/status`. Register it before the routes, so that all requests are
 * counted.
 */
export function sampleDay(app: App, { pool }: Operations): DaySamples {
  const samples = new DaySamples(() =>
    withSnapshot(
      pool,
      async (snapshot): Promise<Standpoint> => {
        const { tip, lag } = await standingAt(snapshot);
        const mempool = await mempoolState(snapshot.client);
        return {
          height: tip?.height ?? null,
          lagBlocks: lag?.blocks ?? null,
          mempool: mempool?.isFollowed === true ? mempool.transactions : null,
        };
      },
      AbortSignal.timeout(readMaxMs),
    ),
  );
  let timer: NodeJS.Timeout | null = null;
  app.addHook('onReady', async () => {
    timer = setInterval(() => void samples.take(), sampleEveryMs).unref();
  });
  app.addHook('onClose', async () => {
    if (timer !== null) clearInterval(timer);
  });
  app.addHook(
    'onResponse',
    atOnce((request, reply) => {
      // do not count event streams, which are open for hours (as in `measureRequests`)
      if (String(reply.getHeader('content-type') ?? '').startsWith('text/event-stream')) return;
      const guard = guardOf(request);
      samples.count(
        reply.elapsedTime,
        guard.kind === 'page' || (guard.kind === 'scope' && guard.scope === 'search'),
      );
    }),
  );
  return samples;
}
