import { setTimeout as sleep } from 'node:timers/promises';
import type { BlockWriter, Committed } from '#indexer/apply/block-writer.ts';
import { type ChainSession, noteCaughtUp } from '#indexer/apply/chain-session.ts';
import { factsOf } from '#indexer/derived/derived-batch.ts';
import type { FactSet } from '#indexer/facts/fact.ts';
import { createBufferPool } from '#indexer/source/buffer-pool.ts';
import { createParsePool, type ParsePool } from '#indexer/workers/parse-pool.ts';
import type { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { postgresFailure } from '#kernel/pg/postgres-failure.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { asHeight, genesisHeight, type Height } from '#kernel/primitives/height.ts';
import { Patience } from '#kernel/retry.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { diskNeed } from './disk-need.ts';
import type { FollowOptions, IndexSummary } from './follow-options.ts';
import { batchBounds, gather } from './gather-batches.ts';
import { withRareCollections } from './heap-growth.ts';
import { knownEnds } from './known-blocks.ts';
import { LoadSizes } from './load-sizes.ts';
import { isLive, makePlan, type Steps } from './plan-steps.ts';
import { StatusRow } from './status-row.ts';
import { WriterConnection } from './writer-connection.ts';

/**
 * Minimum number of blocks to come with which a load begins. With fewer blocks, each block is committed durably on its
 * own, with all indexes, because readers need it soon. In a load, blocks come in batches and the indexes are built
 * afterwards, which is several times faster.
 */
const bulkBlocksMin = 100;
/**
 * How often a node is polled even if it sends nothing, in ms. Its messages may be lost or missing. A poll is one small
 * request.
 */
const pollEveryMs = 5000;
/**
 * How long the first pause lasts, and the longest pause, in ms. The first is short because most interruptions are
 * short. The longest is a delay that a person accepts without a thought.
 */
const firstPauseMs = 200;
const pauseMaxMs = 10_000;
/**
 * How long failures are retried for a folder, in ms, because a person waits for the end of the run. It is enough for
 * the restart of a server.
 */
const retryBudgetMs = 60_000;

/**
 * Updates the database to the chain of a source and, if the source is a node, follows the node until the signal. Takes
 * back blocks that the source's chain does not have, then reads, checks, parses, applies and writes the missing ones.
 * Holds the writer's lock meanwhile. However it ends, the database always has whole blocks; once it has caught up, all
 * secondary indexes exist.
 *
 * Failures are retried as the table of error codes says (docs/errors.md): an unreachable node or database, a full disk,
 * a node whose chain has less work than ours. With `waitsForPeople`, this includes a node that lacks blocks, gives
 * wrong blocks or refuses our cookie. Throws failures that are not retried. If a block cannot be applied, throws the
 * reason, with height and hash.
 */
export async function follow(options: FollowOptions): Promise<IndexSummary> {
  options.signal.throwIfAborted();
  return new Follower(options).run();
}

type RoundEnd = 'again' | 'idle' | 'end';

class Follower {
  readonly #options: FollowOptions;
  readonly #patience: Patience;
  readonly #status: StatusRow;
  readonly #startedAt = performance.now();
  readonly #connection: WriterConnection;
  #parsePool: ParsePool | null = null;
  /** True if parsing has a lower priority than searches. */
  #isParseBulk = false;
  #parsedFacts = '';
  #hasReported = false;
  #hasCaughtUp = false;
  /**
   * True after a batch was refused because of one of its blocks. Blocks are then applied one by one, so that the good
   * blocks before the bad block are kept.
   */
  #isSingly = false;
  #tip: BlockRef | null = null;
  #undoneAbove: number | null = null;
  #blocks = 0;
  #bytes = 0;
  #inscriptions = 0;
  #blocksTotal = 0;
  #sourceHeight = 0;
  /** True if the last plan found that our tip is the source's tip. */
  #isAtTip = false;
  readonly #sizes = new LoadSizes();

  constructor(options: FollowOptions) {
    const { source, pool, onStatus } = options;
    this.#options = options;
    const budgetMs = options.retryBudgetMs ?? (isLive(source) ? Number.POSITIVE_INFINITY : retryBudgetMs);
    this.#patience = new Patience({
      firstPauseMs,
      pauseMaxMs,
      isFolder: !isLive(source),
      hasCookieFile: isLive(source) && source.hasCookieFile === true,
      budgetMs,
      waitsForPeople: options.waitsForPeople,
      mendedEveryMs: options.bounds?.mendedEveryMs,
    });
    this.#status = new StatusRow(pool, source.name, onStatus ?? (() => undefined));
    this.#connection = new WriterConnection(options, {
      onCommit: (committed) => this.#learn(committed),
      onLock: (isHeld) => this.#status.keep(isHeld),
      tipHeight: () => Math.min(this.#sourceHeight, this.#until),
    });
  }

  async run(): Promise<IndexSummary> {
    const { signal } = this.#options;
    try {
      for (let end: RoundEnd = 'again'; end !== 'end' && !signal.aborted; ) end = await this.#attempt();
    } finally {
      await this.#parsePool?.close();
      await this.#status.close();
      await this.#connection.close();
    }
    return {
      height: this.#tip?.height ?? null,
      hash: this.#tip === null ? null : displayHash(this.#tip.hash),
      undoneAbove: this.#undoneAbove,
      blocks: this.#blocks,
      bytes: this.#bytes,
      inscriptions: this.#inscriptions,
      seconds: (performance.now() - this.#startedAt) / 1000,
    };
  }

  /** Runs one round and the wait after it. Throws failures that waiting cannot fix. */
  async #attempt(): Promise<RoundEnd> {
    const { source, signal, bounds } = this.#options;
    try {
      const end = await this.#round();
      this.#patience.reset();
      if (end === 'idle' && isLive(source)) {
        await source.news(bounds?.pollMs ?? pollEveryMs, signal, this.#isAtTip);
      }
      return end;
    } catch (error) {
      const failure = postgresFailure(error);
      if (signal.aborted && isInterruption(failure)) return 'end';
      if (failure instanceof AppError && failure.code === 'derived_tables_changed') {
        // a table has caught up, so the next batch must have its rows and is prepared again
        await this.#connection.close();
        return 'again';
      }
      if (this.#hidesGoodBlocks(failure)) {
        this.#isSingly = true;
        await this.#connection.close();
        return 'again';
      }
      await this.#waitAfter(failure);
      return 'again';
    }
  }

  /** Whether good blocks of a folder were rolled back together with a bad block above them. */
  #hidesGoodBlocks(failure: unknown): boolean {
    if (isLive(this.#options.source) || this.#isSingly) return false;
    if (!(failure instanceof AppError) || failure.code !== 'block_corrupt') return false;
    return Number(failure.details['height']) > (this.#tip?.height ?? -1) + 1;
  }

  async #waitAfter(failure: unknown): Promise<void> {
    const { signal, onWaiting } = this.#options;
    const problem =
      failure instanceof AppError
        ? { code: failure.code, message: failure.message, since: new Date() }
        : null;
    const delayMs = this.#patience.delayAfter(failure);
    if (delayMs === null || !(failure instanceof AppError)) {
      this.#status.set({ state: 'ended', problem });
      throw failure;
    }
    this.#status.set({ state: 'waiting', problem });
    onWaiting?.(failure, delayMs);
    // if only the source failed, session and memory are intact
    if (this.#connection.isBroken || isOfDatabase(failure)) await this.#connection.close();
    await sleep(delayMs, undefined, { signal }).catch(() => undefined);
  }

  async #round(): Promise<RoundEnd> {
    const { source, signal } = this.#options;
    const { session, writer } = await this.#connection.open();
    const ends = await this.#connection.run(() => knownEnds(session.writer));
    checkTip(writer.tip, ends?.tip ?? null);
    this.#tip = writer.tip;
    const { plan, sourceTip } = await makePlan(session.writer, ends, source, signal);
    this.#status.set({ sourceTip });
    this.#sourceHeight = sourceTip?.height ?? 0;
    this.#isAtTip = writer.tip !== null && isSameBlock(writer.tip, sourceTip);
    switch (plan.kind) {
      case 'refuse':
        throw new AppError('network_mismatch', `${source.name} and the indexed chain share no block.`);
      case 'wait':
        this.#waitForWork(sourceTip);
        return 'idle';
      case 'steps':
        return this.#take(plan, sourceTip, session, writer);
      default:
        return unreachable(plan);
    }
  }

  #waitForWork(sourceTip: BlockRef | null): void {
    const { source, onWaiting, bounds } = this.#options;
    const error = new AppError(
      'node_behind',
      `The best chain of ${source.name} ends at ${sourceTip?.height ?? 'nothing'} and has less work than the indexed chain, which ends at ${this.#tip?.height}.`,
    );
    this.#status.set({
      state: 'waiting',
      problem: { code: error.code, message: error.message, since: new Date() },
    });
    onWaiting?.(error, bounds?.pollMs ?? pollEveryMs);
  }

  /** Executes the steps of a plan. */
  async #take(
    { undoTo, apply }: Steps,
    sourceTip: BlockRef | null,
    session: ChainSession,
    writer: BlockWriter,
  ): Promise<RoundEnd> {
    const refs = apply.filter(({ height }) => height <= this.#until);
    const blocksToCome = this.#distance(refs, sourceTip);
    const isBulk = blocksToCome >= this.#bulkBlocksMin;
    this.#status.set({ state: isBulk ? 'syncing' : 'following', problem: null });
    if (undoTo !== null) await this.#undo(writer, undoTo);
    // if nothing is indexed, wait: indexes are built once the tables have rows, perhaps by a bulk load that begins when
    // a syncing node reaches the first relevant block
    const isAtEnd = refs.length === 0 && !isLive(this.#options.source);
    if (!isBulk && (writer.tip !== null || isAtEnd)) await this.#connection.ensureIndexes();
    if (refs.length === 0) return this.#restAt(session, writer.tip, undoTo !== null);
    this.#blocksTotal = this.#blocks + blocksToCome;
    if (isBulk) this.#weigh(refs, blocksToCome);
    if (!this.#hasReported) {
      this.#report();
      await this.#compareDisk(blocksToCome);
    }
    const { activity } = this.#options;
    const load = (): Promise<void> => this.#apply(refs, isBulk, session, writer);
    const work = isBulk ? (): Promise<void> => withRareCollections(load) : load;
    await (activity === undefined ? work() : activity.during(work));
    return 'again';
  }

  #weigh(refs: readonly BlockRef[], count: number): void {
    const { source, signal } = this.#options;
    const first = refs[0]?.height ?? genesisHeight;
    const heightAt = (index: number): Height => refs[index]?.height ?? asHeight(first + index);
    this.#sizes.begin(source, { count, heightAt }, this.#blocks, signal);
  }

  async #compareDisk(blocksToCome: number): Promise<void> {
    const { source, pool, diskFolder: folder, indexAddresses = false, onDiskShort } = this.#options;
    if (folder === undefined || onDiskShort === undefined) return;
    const need = await diskNeed(pool, { folder, network: source.network, blocksToCome, indexAddresses });
    if (need !== null && need.freeBytes < need.neededBytes) onDiskShort(need);
  }

  /** Ends a round in which no blocks were applied. */
  async #restAt({ writer }: ChainSession, tip: BlockRef | null, hasUndone: boolean): Promise<RoundEnd> {
    if (tip !== null && !this.#hasCaughtUp) {
      await this.#connection.run(() => noteCaughtUp(writer));
      this.#hasCaughtUp = true;
    }
    if (!isLive(this.#options.source) || (tip?.height ?? -1) >= this.#until) return 'end';
    if (!hasUndone) this.#options.onCaughtUp?.();
    return hasUndone ? 'again' : 'idle';
  }

  get #bulkBlocksMin(): number {
    return this.#options.bounds?.load?.blocksMin ?? bulkBlocksMin;
  }

  get #until(): number {
    return this.#options.until ?? Number.POSITIVE_INFINITY;
  }

  /** Number of blocks to come: the known blocks, and for a node also the blocks up to its tip. */
  #distance(refs: readonly BlockRef[], sourceTip: BlockRef | null): number {
    const first = refs[0]?.height;
    if (first === undefined || sourceTip === null || !isLive(this.#options.source)) return refs.length;
    return Math.max(refs.length, Math.min(sourceTip.height, this.#until) - first + 1);
  }

  async #undo(writer: BlockWriter, height: Height | -1): Promise<void> {
    const { undoHooks, signal, onUndo, openPast } = this.#options;
    onUndo?.((this.#tip?.height ?? height) - height, height);
    await this.#connection.run(() => writer.undo(height, undoHooks ?? [], { signal, past: openPast?.() }));
    this.#tip = writer.tip;
    this.#undoneAbove = Math.min(this.#undoneAbove ?? height, height);
  }

  async #apply(
    refs: readonly BlockRef[],
    isBulk: boolean,
    { fingerprintKey, followed }: ChainSession,
    writer: BlockWriter,
  ): Promise<void> {
    const { source, signal, bounds } = this.#options;
    const last = refs.at(-1);
    const parser = await this.#parser(
      refs.length,
      isBulk,
      factsOf(followed.active.map(({ table }) => table)),
    );
    const parsed = parser.blocks(source, refs, fingerprintKey, signal);
    const limits = {
      ...batchBounds,
      ...(isBulk ? bounds?.load : { blocksMax: 1 }),
      ...bounds,
      ...(this.#isSingly ? { blocksMax: 1 } : {}),
    };
    try {
      for await (const batch of gather(parsed, limits)) {
        const isLast = batch.at(-1)?.ref.height === last?.height;
        if (isBulk) await this.#connection.indexForSearches(writer);
        await this.#connection.run(() => writer.write(batch, isBulk && !isLast));
      }
    } catch (error) {
      // finish earlier writes; if that fails too, the first error still has the reason
      await this.#connection.run(() => writer.finish()).catch(() => undefined);
      throw error;
    }
    await this.#connection.run(() => writer.finish());
  }

  /**
   * The pool of parsers. In a load, the parsers have a lower priority and let searches go first. At the tip, searches
   * wait.
   */
  async #parser(blocks: number, isBulk: boolean, facts: FactSet): Promise<ParsePool> {
    const factNames = [...facts].toSorted().join();
    // a thread cannot raise its own priority again, so new threads are needed
    const isOther = this.#options.demand !== undefined && isBulk !== this.#isParseBulk;
    if (isOther || factNames !== this.#parsedFacts) {
      await this.#parsePool?.close();
      this.#parsePool = null;
    }
    this.#isParseBulk = isBulk;
    this.#parsedFacts = factNames;
    this.#parsePool ??= this.#createParser(blocks, facts, isBulk ? this.#options.demand : undefined);
    return this.#parsePool;
  }

  #createParser(blocks: number, facts: FactSet, demand: SearchDemand | undefined): ParsePool {
    const { source, threads, textMaxBytes, onStep, onQueue, stages } = this.#options;
    return createParsePool(createBufferPool(), {
      ...(isLive(source) ? {} : { blocks }),
      ...(threads === undefined ? {} : { threads }),
      ...(textMaxBytes === undefined ? {} : { textMaxBytes }),
      facts,
      ...(demand === undefined ? {} : { demand }),
      ...(onStep === undefined ? {} : { onStep }),
      ...(onQueue === undefined ? {} : { onQueue }),
      ...(stages === undefined ? {} : { stages }),
    });
  }

  #learn(committed: Committed): void {
    this.#blocks += committed.blocks;
    this.#bytes += committed.bytes;
    this.#inscriptions += committed.inscriptions;
    this.#tip = committed.position.tip;
    this.#patience.reset();
    this.#options.onCommit?.(committed);
    this.#report();
  }

  #report(): void {
    const blocks = this.#blocks;
    const blocksTotal = Math.max(blocks, this.#blocksTotal);
    const bytes = this.#bytes;
    const inscriptions = this.#inscriptions;
    this.#hasReported = true;
    const bytesLeft = this.#sizes.bytesLeft({ blocks, bytes }, blocksTotal - blocks);
    this.#options.onProgress?.({ blocks, blocksTotal, bytes, bytesLeft, inscriptions });
  }
}

/** Whether the connections to the database are unusable after the error. */
function isOfDatabase({ code }: AppError): boolean {
  return code.startsWith('postgres_') || code === 'disk_full' || code === 'tip_changed';
}

/** Whether a failure is caused by the end of the run: by the signal itself, or by a part that is being closed. */
function isInterruption(failure: unknown): boolean {
  return failure instanceof AppError || (failure instanceof Error && failure.name === 'AbortError');
}

/**
 * Throws if the stored tip is not the remembered tip. In that case another process wrote despite the lock, or a person
 * changed the tables.
 */
function checkTip(remembered: BlockRef | null, stored: BlockRef | null): void {
  if (isSameBlock(remembered, stored)) return;
  throw new AppError(
    'tip_changed',
    'The tip is not where this process left it, because another process wrote to the database.',
    {
      expected: remembered?.height ?? null,
      found: stored?.height ?? null,
    },
  );
}

function isSameBlock(a: BlockRef | null, b: BlockRef | null): boolean {
  return a === null || b === null ? a === b : Buffer.compare(a.hash, b.hash) === 0;
}
