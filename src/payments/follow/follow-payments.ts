import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { NodeMessage } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import type { Logger } from '#kernel/logger.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { connectClient } from '#kernel/pg/pool.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { Repeats } from '#kernel/repeats.ts';
import { Patience, pause } from '#kernel/retry.ts';
import { Waker } from '#kernel/waker.ts';
import { watchesChannel } from '#payments/store/watches.store.ts';
import { type PaymentsNode, PaymentsSession } from './payments-session.ts';

export interface FollowPaymentsOptions {
  /** Of the database. */
  readonly url: string;
  readonly source: BlockSource | LiveBlockSource;
  /** The node whose mempool is followed; null: the source is a folder. */
  readonly node: PaymentsNode | null;
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Shortest time between two rounds: a few a second, however many messages arrive. */
const roundMs = 200;
/** Messages may be lost: blocks and watches are polled this often anyway. */
const pollMs = 2000;
/** How often a standby process checks whether the active one is gone. */
const standbyMs = 1000;
/** The first and the longest pause after failures. */
const retryMinMs = 500;
const retryMaxMs = 30_000;

/**
 * Keeps the tables of payments equal to the chain of a source and, with a node, to its mempool, until the signal is
 * aborted (docs/payments.md). One process per database does so; another one stands by. Failures are logged and
 * retried as the table of error codes says, from the state in the tables. Throws what is not retried.
 */
export async function followPayments(options: FollowPaymentsOptions): Promise<void> {
  const { signal, log, node } = options;
  const repeats = new Repeats();
  const patience = new Patience({
    firstPauseMs: retryMinMs,
    pauseMaxMs: retryMaxMs,
    isFolder: node === null,
    hasCookieFile: node?.hasCookieFile,
    waitsForPeople: true,
  });
  let isStandingBy = false;
  while (!signal.aborted) {
    const startedAt = Date.now();
    try {
      await followOnce(options);
    } catch (thrown) {
      if (signal.aborted) return;
      const error = postgresFailure(thrown);
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'database_busy') {
        if (!isStandingBy) log.info('another process follows payments: standing by');
        isStandingBy = true;
        await pause(standbyMs, signal);
        continue;
      }
      isStandingBy = false;
      if (Date.now() - startedAt > retryMaxMs) patience.reset();
      const waitMs = patience.delayAfter(error);
      if (waitMs === null) throw error;
      if (repeats.isDue(error.code)) {
        log.warn({ err: error, waitMs: Math.round(waitMs) }, 'payments are not followed');
      }
      await pause(waitMs, signal);
    }
  }
}

async function followOnce({ url, source, node, signal, log }: FollowPaymentsOptions): Promise<void> {
  const client = await connectClient(url, 'satscribe payments');
  const waker = new Waker();
  const stops: (() => void)[] = [];
  let session: PaymentsSession | null = null;
  try {
    await takeAdvisoryLock(client, 'payments');
    const current = new PaymentsSession({
      client,
      source,
      node,
      signal,
      onUnavailable: (error) =>
        log.error({ err: error }, 'old blocks are missing: payments in them are not seen yet'),
    });
    session = current;
    client.on('notification', ({ payload }) => {
      if (payload === 'less') current.forget();
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
    await client.end().catch(() => undefined);
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
