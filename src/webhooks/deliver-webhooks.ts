import type pg from 'pg';
import { Waker } from '#kernel/concurrency/waker.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import { keepWorking } from '#kernel/pg/keep-working.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import type { WebhookTryResult } from '#kernel/reports/metrics.ts';
import type { OutgoingHttp } from '#outgoing/outgoing-http.ts';
import { Deliveries, type DeliveryClock } from './deliveries.ts';
import { forgetOld } from './delivery.store.ts';
import { noteKeys } from './key.store.ts';
import { webhooksChannel } from './webhook.ts';
import type { WebhookKeys } from './webhook-keys.ts';

export interface DeliverWebhooksOptions {
  /** Address of the database. */
  readonly url: string;
  readonly http: Pick<OutgoingHttp, 'post'>;
  /** Opens the keys. Called at the start, and again if receivers know other keys. */
  readonly keys: () => Promise<WebhookKeys>;
  /** Name and version of this program. */
  readonly userAgent: string;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly onTry?: (outcome: WebhookTryResult) => void;
  /** Called with a problem that prevents all sending, and with null when the problem has ended. */
  readonly onProblem?: (problem: AppError | null) => void;
  /** Clock and random numbers that replace the machine's in tests. */
  readonly clock?: DeliveryClock;
}

const ownClock: DeliveryClock = { aheadMs: () => 0, random: Math.random };
/** Maximum number of database connections that store the results of tries. Storing a result takes milliseconds. */
const connectionsMax = 4;
const statementTimeoutMs = 15_000;
/**
 * How often due messages are searched without a notification, in ms. If a process dies while it sends a message, the
 * message becomes due again without a notification.
 */
const pollMs = 5_000;
const forgetEveryMs = 3_600_000;

/**
 * Sends the messages in the outbox until the signal is aborted (docs/webhooks.md). Several processes can share the
 * work. Failures are retried according to the table of error codes. Throws failures that are not retried.
 */
export async function deliverWebhooks(options: DeliverWebhooksOptions): Promise<void> {
  const { url, signal, log, onTry, onProblem } = options;
  const pool = createPool(url, {
    applicationName: 'satscribe webhooks',
    max: connectionsMax,
    statementTimeoutMs,
    onError: (error) => log.debug({ err: error }, 'an idle connection was lost'),
  });
  const waker = new Waker();
  const clock = options.clock ?? ownClock;
  const wakeAfterTry = (outcome: WebhookTryResult): void => {
    onTry?.(outcome);
    waker.wake();
  };
  let deliveries: Deliveries | null = null;
  try {
    await keepWorking({ signal, log, failing: 'webhooks are not sent', onProblem }, async () => {
      if (deliveries === null) {
        const keys = await options.keys();
        await noteOurKeys(pool, keys);
        deliveries = new Deliveries({ ...options, pool, keys, clock, onTry: wakeAfterTry });
      }
      await deliverOnce(options, deliveries, waker);
    });
  } finally {
    await (deliveries as Deliveries | null)?.end();
    await pool.end();
  }
}

const noteOurKeys = (pool: pg.Pool, keys: WebhookKeys): Promise<void> =>
  withTransaction(pool, (tx) => noteKeys(tx, keys.publicKeys));

/** Delivers messages until the connection for notifications is lost. */
async function deliverOnce(
  { url, signal, onProblem, clock = ownClock }: DeliverWebhooksOptions,
  deliveries: Deliveries,
  waker: Waker,
): Promise<void> {
  const client = await connectClient(url, 'satscribe webhooks');
  try {
    client.on('notification', () => waker.wake());
    await client.query(`LISTEN ${webhooksChannel}`);
    onProblem?.(null);
    let forgetAt = 0;
    while (!signal.aborted) {
      if (Date.now() >= forgetAt) {
        await forgetOld(client, clock.aheadMs());
        forgetAt = Date.now() + forgetEveryMs;
      }
      const waitMs = await deliveries.begin(client);
      await waker.wait(Math.min(pollMs, waitMs ?? pollMs), signal);
    }
  } finally {
    await client.end().catch(() => undefined);
  }
}
