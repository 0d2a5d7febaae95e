import type pg from 'pg';
import { Waker } from '#kernel/concurrency/waker.ts';
import { outboxChannel } from '#kernel/contracts/outbox.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause } from '#kernel/retry.ts';
import { watchesChannel } from '#watches/store/watches.store.ts';
import type { ReadCollections } from './match-arrivals.ts';
import { WatchesSession } from './watches-session.ts';

export interface FollowWatchesOptions {
  /** Address of the database. */
  readonly url: string;
  readonly network: NetworkParameters;
  readonly readCollections: ReadCollections;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Channel that reports new rows of the mempool's tables. */
const mempoolChannel = 'satscribe_mempool';
/**
 * Minimum time between the starts of two rounds, in ms. It allows a few rounds per second, however many changes arrive.
 */
const roundMs = 200;
/** How often all is polled, in ms, because notifications may be lost. */
const pollMs = 2000;

/**
 * Matches watches with new blocks and with the mempool's tables, until the signal is aborted
 * (docs/adr/0105-watches.md). Only one process per database does this work, and other processes wait. Failures are
 * logged. They are retried according to the table of error codes, from the state in the tables. Throws failures that
 * are not retried.
 */
export async function followWatches(options: FollowWatchesOptions): Promise<void> {
  const { url, signal, log } = options;
  await workUnderLock(
    {
      url,
      applicationName: 'satscribe watches',
      lock: 'watches',
      what: 'watches',
      signal,
      log,
      isFolder: false,
      hasCookieFile: undefined,
    },
    async (client) => {
      const reader = await connectClient(url, 'satscribe watches');
      try {
        await followWith(client, reader, options);
      } finally {
        await reader.end().catch(() => undefined);
      }
    },
  );
}

async function followWith(
  client: pg.Client,
  reader: pg.Client,
  { network, readCollections, signal, log }: FollowWatchesOptions,
): Promise<void> {
  const waker = new Waker();
  const session = new WatchesSession({ client, reader, network, readCollections });
  client.on('notification', () => waker.wake());
  for (const channel of [outboxChannel, mempoolChannel, watchesChannel])
    await client.query(`LISTEN ${channel}`);
  await session.load();
  let isFirst = true;
  while (!signal.aborted) {
    const startedAt = Date.now();
    const hasMore = await session.round();
    if (isFirst) log.info({ watches: session.size }, 'watches are followed');
    isFirst = false;
    if (hasMore) continue;
    await pause(Math.max(0, startedAt + roundMs - Date.now()), signal);
    await waker.wait(pollMs, signal);
  }
}
