import { setTimeout as delay } from 'node:timers/promises';
import type pg from 'pg';
import type { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { writeProblem } from '#indexer/mempool/store/pending.store.ts';
import type { NodeFacts, NodeMessages } from '#kernel/contracts/node.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { levelOfFailure } from '#kernel/errors/node-away.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import type { BlockHash } from '#kernel/primitives/hash.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { Patience, pause } from '#kernel/retry.ts';
import { MessageQueue } from '../stream/message-queue.ts';
import { type MempoolRpc, NodeMempool } from '../stream/node-mempool.ts';
import { SnapshotClock } from '../stream/snapshot-clock.ts';
import { MempoolSession, usualBounds } from './mempool-session.ts';
import type { MempoolBounds } from './pending-set.ts';

export interface FollowMempoolOptions {
  /**
   * A node without the ZMQ topic `sequence` is polled. A node without the topic `rawtx` receives a request for every
   * transaction.
   */
  readonly node: {
    readonly rpc: MempoolRpc;
    readonly facts: Pick<NodeFacts, 'zmq' | 'reveals'>;
    readonly messages: NodeMessages;
    /**
     * Reads the outputs that a block spends. Absent: the inputs of a mined transaction are unknown until its block is
     * indexed.
     */
    readonly spentOutputs?: (
      hash: BlockHash,
      options: { readonly signal: AbortSignal },
    ) => Promise<{ readonly bytes: Uint8Array }>;
    /** True if the login is a cookie file that the node writes at each start. Absent: it is a password. */
    readonly hasCookieFile?: boolean;
  };
  readonly pool: pg.Pool;
  readonly network: NetworkParameters;
  readonly signal: AbortSignal;
  readonly log: Logger;
  readonly bounds?: Partial<MempoolBounds>;
  /** The writer of this process. A block that it applies comes first. Absent: no block is applied. */
  readonly writer?: WriterActivity;
  /** Pause between two attempts if a person must fix the node. Absent: a minute. For tests. */
  readonly mendedEveryMs?: number;
}

/** Shortest time between two writes, in ms: four writes per second, however many messages arrive. */
const roundMs = 250;
/**
 * How long a round waits after a new block until the writer begins to apply the block, in ms. The writer first makes a
 * plan, which takes at most half of this time.
 */
const writerBeginMs = 250;
/**
 * How long a round waits for blocks that are being applied, in ms. A block at the tip takes less. If the writer has many
 * blocks to apply, rounds run beside it.
 */
const writerWaitMs = 1000;
/** How long to wait after connecting until a subscription is active, in ms. An earlier snapshot could miss messages. */
const resubscribedMs = 500;
/** How long the first pause after failures lasts, in ms. `retryMaxMs` is the longest pause. */
const retryMinMs = 500;
const retryMaxMs = 30_000;

/**
 * Keeps the tables of pending transactions equal to a node's mempool until the signal is aborted. Failures of the node
 * or of Postgres are logged, shown in chain.mempool_state and retried from a new snapshot, as the table of error codes
 * says (docs/errors.md). Throws failures that are not retried.
 */
export async function followMempool(options: FollowMempoolOptions): Promise<void> {
  const { signal, log, pool, node, mendedEveryMs } = options;
  const source = node.facts.zmq.has('sequence') ? 'zmq' : 'polling';
  const repeats = new Repeats();
  const patience = new Patience({
    firstPauseMs: retryMinMs,
    pauseMaxMs: retryMaxMs,
    hasCookieFile: node.hasCookieFile,
    waitsForPeople: true,
    mendedEveryMs,
  });
  let since = new Date();
  while (!signal.aborted) {
    const startedAt = Date.now();
    try {
      await followOnce(options, (session) => {
        since = session.since;
      });
    } catch (thrown) {
      if (signal.aborted) break;
      const error = postgresFailure(thrown);
      if (!(error instanceof AppError)) throw error;
      await writeProblem(pool, source, 'waiting', error.message, since).catch(() => undefined);
      // if the session ran for a while, start again with the shortest pause
      if (Date.now() - startedAt > retryMaxMs) patience.reset();
      const waitMs = patience.delayAfter(error);
      if (waitMs === null) throw error;
      if (repeats.isDue(error.code)) {
        log[levelOfFailure(error)]({ err: error, waitMs: Math.round(waitMs) }, 'the mempool is not followed');
      }
      await pause(waitMs, signal);
    }
  }
  await writeProblem(pool, source, 'ended', null, since).catch(() => undefined);
}

async function followOnce(
  options: FollowMempoolOptions,
  onSession: (session: MempoolSession) => void,
): Promise<void> {
  const { node, pool, network, signal, log, bounds = {} } = options;
  const { spentOutputs } = node;
  const queue = node.facts.zmq.has('sequence') ? new MessageQueue(node.messages) : null;
  try {
    const session = new MempoolSession({
      node: new NodeMempool(node.rpc, signal),
      pool,
      network: network.name,
      spentIn: spentOutputs === undefined ? null : (hash) => spentOutputs(hash, { signal }),
      queue,
      reveals: node.facts.reveals,
      bounds: { ...usualBounds, ...bounds },
      log,
    });
    onSession(session);
    await follow(session, queue, options);
  } finally {
    queue?.close();
  }
}

async function follow(
  session: MempoolSession,
  queue: MessageQueue | null,
  { signal, log, writer }: Pick<FollowMempoolOptions, 'signal' | 'log' | 'writer'>,
): Promise<void> {
  const clock = new SnapshotClock(queue === null);
  let wasReady = false;
  while (!signal.aborted) {
    if (queue?.takeBlock() === true) await writer?.begun(signal, writerBeginMs);
    await writer?.idle(signal, writerWaitMs);
    const startedAt = Date.now();
    if (clock.isDue(session, startedAt)) {
      await session.join();
      clock.taken(startedAt, Date.now());
    }
    await session.round();
    if (session.isReady && !wasReady) {
      wasReady = true;
      log.info({ ms: Date.now() - clock.firstAt, polling: queue === null }, 'the mempool is followed');
    }
    if (!session.isJoined) {
      await delay(resubscribedMs, undefined, { signal }).catch(() => undefined);
      continue;
    }
    if (session.hasWork) continue;
    const rest = Math.max(0, startedAt + roundMs - Date.now());
    await delay(rest, undefined, { signal }).catch(() => undefined);
    await queue?.news(roundMs, signal);
  }
}
