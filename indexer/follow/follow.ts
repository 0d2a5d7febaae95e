import { setTimeout as sleep } from 'node:timers/promises';
import { BlockWriter } from '#indexer/apply/block-writer.ts';
import { type ChainSession, openChainSession } from '#indexer/apply/chain-session.ts';
import { ensureSecondaryIndexes } from '#indexer/apply/secondary-indexes.ts';
import { claimAddressIndex } from '#indexer/outputs/address-index.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { createParsePool, type ParsePool } from '#indexer/workers/parse-pool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { networks } from '#kernel/primitives/network.ts';
import { isOfDatabase, operatingFailure, Retry } from './failure.ts';
import type { FollowOptions, IndexSummary } from './follow-options.ts';
import { batchBounds, gather } from './gather.ts';
import { knownEnds } from './known-blocks.ts';
import { isLive, makePlan, type Steps } from './make-plan.ts';
import { StatusRow } from './status-row.ts';

/**
 * Fewer blocks to come than these, and each is committed for itself and for good, with all indexes: readers need them
 * soon. More, and they come in batches, whose indexes are built when they are there: it is several times faster.
 */
const bulkBlocksMin = 100;
/** A node is asked so often even if it says nothing: its messages may be lost, or not come at all. One small request. */
const pollEveryMs = 5000;
/** One that stands by looks so often whether the other one is gone. */
const standbyEveryMs = 1000;
/** For sources at rest, whose end somebody waits for: a restart of a server is over by then. */
const retryBudgetMs = 60_000;

/**
 * Brings the database to the chain of a source and, where that is a node, keeps it there until the signal: takes back
 * what the source's chain does not have, then reads, checks, parses, applies and writes what is missing. Holds the
 * writer's lock meanwhile. What is committed are whole blocks at every moment, however it ends; once it has caught up all
 * secondary indexes are there.
 *
 * What may pass by itself is waited for: a node or a database that does not answer, a full disk, a node whose chain has
 * less work than ours. Throws what does not: `database_busy`, `network_mismatch`, `rules_changed`, `node_refused`,
 * `node_pruned`, `address_index_fixed`, `address_index_gap`, and for a block that cannot be applied the error that says why, with its height and hash.
 */
export async function follow(options: FollowOptions): Promise<IndexSummary> {
  options.signal.throwIfAborted();
  return new Follower(options).run();
}

type RoundEnd = 'again' | 'idle' | 'end';

class Follower {
  private readonly options: FollowOptions;
  private readonly retry: Retry;
  private readonly status: StatusRow;
  private readonly startedAt = performance.now();
  private session: ChainSession | null = null;
  private writer: BlockWriter | null = null;
  private parsePool: ParsePool | null = null;
  private isIndexed = false;
  private hadSession = false;
  private hasReported = false;
  private tip: BlockRef | null = null;
  private undoneAbove: number | null = null;
  private blocks = 0;
  private bytes = 0;
  private inscriptions = 0;
  private blocksTotal = 0;

  constructor(options: FollowOptions) {
    const { source, pool, onStatus } = options;
    this.options = options;
    const budgetMs = options.retryBudgetMs ?? (isLive(source) ? Number.POSITIVE_INFINITY : retryBudgetMs);
    this.retry = new Retry(isLive(source), budgetMs);
    this.status = new StatusRow(pool, source.name, onStatus ?? (() => undefined));
  }

  async run(): Promise<IndexSummary> {
    const { signal } = this.options;
    try {
      for (let end: RoundEnd = 'again'; end !== 'end' && !signal.aborted; ) end = await this.attempt();
    } finally {
      await this.parsePool?.close();
      await this.status.close();
      await this.closeSession();
    }
    return {
      height: this.tip?.height ?? null,
      hash: this.tip === null ? null : displayHash(this.tip.hash),
      undoneAbove: this.undoneAbove,
      blocks: this.blocks,
      bytes: this.bytes,
      inscriptions: this.inscriptions,
      seconds: (performance.now() - this.startedAt) / 1000,
    };
  }

  /** One round, and the wait after it. Throws what waiting cannot help. */
  private async attempt(): Promise<RoundEnd> {
    const { source, signal, bounds } = this.options;
    try {
      const end = await this.round();
      this.retry.reset();
      if (end === 'idle' && isLive(source)) await source.news(bounds?.pollMs ?? pollEveryMs, signal);
      return end;
    } catch (error) {
      const failure = operatingFailure(error);
      if (signal.aborted && isInterruption(failure)) return 'end';
      await this.waitAfter(failure);
      return 'again';
    }
  }

  private async waitAfter(failure: unknown): Promise<void> {
    const { signal, onWaiting } = this.options;
    const problem =
      failure instanceof AppError
        ? { code: failure.code, message: failure.message, since: new Date() }
        : null;
    const delayMs = this.retry.delayAfter(failure);
    if (delayMs === null || !(failure instanceof AppError)) {
      this.status.set({ state: 'ended', problem });
      throw failure;
    }
    this.status.set({ state: 'waiting', problem });
    onWaiting?.(failure, delayMs);
    // a source that failed leaves session and memory as good as they were
    if (this.writer === null || isOfDatabase(failure)) await this.closeSession();
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  }

  private async round(): Promise<RoundEnd> {
    const { source, signal } = this.options;
    const session = await this.openSession();
    const writer = await this.openWriter(session);
    const ends = await this.withDatabase(() => knownEnds(session.writer));
    checkTip(writer.tip, ends?.tip ?? null);
    this.tip = writer.tip;
    const { plan, sourceTip } = await makePlan(session.writer, ends, source, signal);
    this.status.set({ sourceTip });
    switch (plan.kind) {
      case 'refuse':
        throw new AppError(
          'network_mismatch',
          `${source.name} and the indexed chain share no block, not even the first one.`,
        );
      case 'wait':
        this.waitForWork(sourceTip);
        return 'idle';
      case 'steps':
        return this.take(plan, sourceTip, session, writer);
    }
  }

  private waitForWork(sourceTip: BlockRef | null): void {
    const { source, onWaiting, bounds } = this.options;
    const error = new AppError(
      'node_behind',
      `The best chain of ${source.name} ends at ${sourceTip?.height ?? 'nothing'} and has less work than the indexed one, which ends at ${this.tip?.height}.`,
    );
    this.status.set({
      state: 'waiting',
      problem: { code: error.code, message: error.message, since: new Date() },
    });
    onWaiting?.(error, bounds?.pollMs ?? pollEveryMs);
  }

  /** Takes the steps of a plan. */
  private async take(
    { undoTo, apply }: Steps,
    sourceTip: BlockRef | null,
    session: ChainSession,
    writer: BlockWriter,
  ): Promise<RoundEnd> {
    const { source, signal } = this.options;
    const until = this.options.until ?? Number.POSITIVE_INFINITY;
    const refs = apply.filter(({ height }) => height <= until);
    const blocksToCome = distance(refs, isLive(source) ? Math.min(sourceTip?.height ?? 0, until) : null);
    const isBulk = blocksToCome >= bulkBlocksMin;
    this.status.set({ state: isBulk ? 'syncing' : 'following', problem: null });
    if (undoTo !== null) await this.undo(writer, undoTo);
    // nothing was ever indexed: its indexes are built when there is something in the tables
    if (!isBulk && (writer.tip !== null || refs.length === 0)) await this.ensureIndexes(session);
    if (refs.length === 0) {
      const isEnd = !isLive(source) || (writer.tip?.height ?? -1) >= until;
      return isEnd ? 'end' : undoTo === null ? 'idle' : 'again';
    }
    this.blocksTotal = this.blocks + blocksToCome;
    if (!this.hasReported) this.report();
    await this.apply(refs, isBulk, session, writer);
    return signal.aborted ? 'end' : 'again';
  }

  private async undo(writer: BlockWriter, height: number): Promise<void> {
    const { undoHooks, signal, onUndo } = this.options;
    onUndo?.((this.tip?.height ?? height) - height, height);
    await this.withDatabase(() => writer.undo(height, undoHooks ?? [], { signal }));
    this.tip = writer.tip;
    this.undoneAbove = Math.min(this.undoneAbove ?? height, height);
  }

  private async apply(
    refs: readonly BlockRef[],
    isBulk: boolean,
    session: ChainSession,
    writer: BlockWriter,
  ): Promise<void> {
    const { source, signal, bounds } = this.options;
    const last = refs.at(-1);
    const parsed = this.parser(refs.length).blocks(source, refs, session.fingerprintKey, signal);
    const limits = { ...batchBounds, ...(isBulk ? {} : { blocksMax: 1 }), ...bounds };
    try {
      for await (const batch of gather(parsed, limits)) {
        const isLast = batch.at(-1)?.ref.height === last?.height;
        await this.withDatabase(() => writer.write(batch, isBulk && !isLast));
      }
    } finally {
      // what was begun before an error is finished all the same
      if (this.writer !== null) await this.withDatabase(() => writer.finish());
    }
  }

  private parser(blocks: number): ParsePool {
    const { source, threads, textMaxBytes, indexAddresses, onStep, onQueue } = this.options;
    this.parsePool ??= createParsePool(createBufferPool(), {
      ...(isLive(source) ? {} : { blocks }),
      ...(threads === undefined ? {} : { threads }),
      ...(textMaxBytes === undefined ? {} : { textMaxBytes }),
      indexAddresses: indexAddresses ?? false,
      ...(onStep === undefined ? {} : { onStep }),
      ...(onQueue === undefined ? {} : { onQueue }),
    });
    return this.parsePool;
  }

  private report(): void {
    const { blocks, blocksTotal, bytes, inscriptions } = this;
    this.hasReported = true;
    this.options.onProgress?.({ blocks, blocksTotal: Math.max(blocks, blocksTotal), bytes, inscriptions });
  }

  private async ensureIndexes({ writer }: ChainSession): Promise<void> {
    if (this.isIndexed) return;
    await this.withDatabase(() => ensureSecondaryIndexes(writer));
    this.isIndexed = true;
  }

  /** A failure of the writer or its connections leaves nothing to build on: both are opened anew. */
  private async withDatabase<T>(work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      this.writer = null;
      throw error;
    }
  }

  private async openSession(): Promise<ChainSession> {
    if (this.session !== null) return this.session;
    const { pool, source, signal, standby, onStandby } = this.options;
    for (let isFirst = true; ; isFirst = false) {
      try {
        this.session = await openChainSession(pool, source.network);
        this.hadSession = true;
        this.status.keep(true);
        return this.session;
      } catch (error) {
        const isBusy = error instanceof AppError && error.code === 'database_busy';
        // after a loss the server may not know yet that the connection is gone, or another process was quicker
        if (!isBusy || !(standby === true || this.hadSession)) throw error;
        this.status.keep(false);
        if (isFirst) onStandby?.();
        await sleep(standbyEveryMs, undefined, { signal });
      }
    }
  }

  private async openWriter(session: ChainSession): Promise<BlockWriter> {
    if (this.writer !== null) return this.writer;
    await claimAddressIndex(session.writer, this.options.indexAddresses ?? false);
    const { source, bounds, onCommit, onStep } = this.options;
    this.writer = await BlockWriter.open({
      session,
      facts: { network: networks[source.network], islands: await source.islands() },
      cacheEntries: bounds?.cacheEntries,
      onStep,
      onCommit: (committed) => {
        this.blocks += committed.blocks;
        this.bytes += committed.bytes;
        this.inscriptions += committed.inscriptions;
        this.tip = committed.position.tip;
        this.retry.reset();
        onCommit?.(committed);
        this.report();
      },
    });
    return this.writer;
  }

  private async closeSession(): Promise<void> {
    const { session } = this;
    this.session = null;
    this.writer = null;
    await session?.close();
  }
}

/** What a run that is being ended may meet: the signal itself, or something that is being closed too. */
function isInterruption(failure: unknown): boolean {
  return failure instanceof AppError || (failure instanceof Error && failure.name === 'AbortError');
}

/** Another process that wrote in spite of the lock, or a hand in the tables. */
function checkTip(remembered: BlockRef | null, stored: BlockRef | null): void {
  const isSame =
    remembered === null || stored === null
      ? remembered === stored
      : Buffer.compare(remembered.hash, stored.hash) === 0;
  if (isSame) return;
  throw new AppError('tip_changed', 'The tip is not where this process left it: another one wrote.', {
    expected: remembered?.height ?? null,
    found: stored?.height ?? null,
  });
}

/** Blocks to come: those that are known, and of a node those up to `end`. */
function distance(refs: readonly BlockRef[], end: number | null): number {
  const first = refs[0]?.height;
  return first === undefined || end === null ? refs.length : Math.max(refs.length, end - first + 1);
}
