import type pg from 'pg';
import { Waker } from '#kernel/concurrency/waker.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { NodeMessage } from '#kernel/contracts/node.ts';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause } from '#kernel/retry.ts';
import { hurry, watchesChannel } from '#payments/store/watches.store.ts';
import { type PaymentsNode, PaymentsSession } from './payments-session.ts';

export interface FollowPaymentsOptions {
  /** Address of the database. */
  readonly url: string;
  readonly source: BlockSource | LiveBlockSource;
  /** The node whose mempool is followed. Null if the source is a folder. */
  readonly node: PaymentsNode | null;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Minimum time between the starts of two rounds, in ms. It allows a few rounds per second, however many messages
 * arrive.
 */
const roundMs = 200;
/** How often blocks and watches are polled, in ms, because messages may be lost. */
const pollMs = 2000;

/**
 * Updates the payment tables from the chain of a source and, if there is a node, from its mempool, until the signal is
 * aborted (docs/payments.md). Only one process per database does this work, and other processes wait. Failures are
 * logged. They are retried according to the table of error codes, from the state in the tables. Throws failures that
 * are not retried.
 */
export async function followPayments(options: FollowPaymentsOptions): Promise<void> {
  const { url, node, signal, log } = options;
  await workUnderLock(
    {
      url,
      applicationName: 'satscribe payments',
      lock: 'payments',
      what: 'payments',
      signal,
      log,
      isFolder: node === null,
      hasCookieFile: node?.hasCookieFile,
    },
    (client) => followWith(client, options),
  );
}

async function followWith(
  client: pg.Client,
  { source, node, signal, log }: FollowPaymentsOptions,
): Promise<void> {
  const waker = new Waker();
  const stops: (() => void)[] = [];
  let session: PaymentsSession | null = null;
  try {
    const current = new PaymentsSession({
      client,
      source,
      node,
      signal,
      onUnavailable: (error) =>
        log.error({ err: error }, 'old blocks are missing, so payments in them are not seen yet'),
    });
    session = current;
    client.on('notification', ({ payload }) => {
      if (payload === 'less') current.forget();
      if (payload === hurry) current.hurry();
      waker.wake();
    });
    await client.query(`LISTEN ${watchesChannel}`);
    const hear = ({ kind }: NodeMessage): void => {
      if (kind !== 'transaction') waker.wake();
    };
    if (node !== null) stops.push(node.messages.listen(hear), node.blockMessages.listen(hear));
    await current.load();
    log.info({ height: current.height, scripts: current.scripts }, 'payments are followed');
    await run(current, waker, signal);
  } finally {
    for (const stop of stops) stop();
    session?.close();
  }
}

async function run(session: PaymentsSession, waker: Waker, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const startedAt = Date.now();
    const hasMore = await session.round();
    if (hasMore) continue;
    await pause(Math.max(0, startedAt + roundMs - Date.now()), signal);
    await waker.wait(pollMs, signal);
  }
}
