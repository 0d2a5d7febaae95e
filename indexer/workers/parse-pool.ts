import { availableParallelism } from 'node:os';
import { type BlockFacts, openFacts } from '#indexer/facts/block-facts.ts';
import { type FactSet, noFacts } from '#indexer/facts/fact.ts';
import type { BlockColumns } from '#indexer/parse/block-columns.ts';
import { decodeBlockColumns } from '#indexer/parse/block-columns.ts';
import { searchableBytesMaxDefault } from '#indexer/parse/parse-block.ts';
import type { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import type { BlockRef, BlockSource, BufferPool } from '#kernel/contracts/block-source.ts';
import { copyBytes } from '#kernel/copy-bytes.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { StageRecorder } from '#kernel/stages/stage-recorder.ts';
import type { ParseJob, ParseJobResult } from './parse-job.ts';
import { ParseStages } from './parse-stages.ts';
import { type ParseThreads, startParseThreads } from './parse-threads.ts';

export interface ParsedBlock {
  readonly ref: BlockRef;
  readonly columns: BlockColumns;
  /** The block itself. */
  readonly bytes: Uint8Array;
  readonly hasSpent: boolean;
  /** The facts that the pool was asked to read besides the columns. */
  readonly facts: BlockFacts;
  /** Bytes of memory that the block uses until it is released. */
  readonly heldBytes: number;
  /**
   * Returns the buffers of the block and of its columns to the pool. Views of these buffers must not be used
   * afterwards.
   */
  release(): void;
}

export interface ParsePoolOptions {
  /**
   * Maximum number of threads. Absent: one for every two cores. A thread parses five times as fast as the writer and
   * Postgres take blocks, and each additional thread compiles the same code again. If threads are given, they are
   * shared, keep their priority, and are not closed with the pool.
   */
  readonly threads?: number | ParseThreads;
  /** Maximum length in bytes of a decoded text that is made searchable. Absent: no limit. */
  readonly textMaxBytes?: number;
  /** The facts to read from each block besides its columns. Absent: none. */
  readonly facts?: FactSet;
  /** Number of blocks to come. No more threads are started than there are blocks. */
  readonly blocks?: number;
  /** Searches of this process. Blocks are parsed only while searches leave the processor free. */
  readonly demand?: SearchDemand;
  readonly onStep?: (step: ParseStep, seconds: number) => void;
  readonly stages?: StageRecorder;
  /**
   * Called with every change of the number of blocks that are being processed or wait to be taken, and with the limit
   * of this number.
   */
  readonly onQueue?: (waiting: number, limit: number) => void;
}

/** A phase of the processing of a block in the pool. */
export type ParseStep = 'fetch' | 'parse';

export interface ParsePool {
  /**
   * Reads, checks and parses blocks, and yields them in the requested order. A few blocks are processed ahead, at most
   * `lookAheadBlocks`. Throws the AppError of the first block that fails, after yielding the blocks before it. Ends
   * early when the signal is aborted.
   */
  blocks(
    source: BlockSource,
    refs: Iterable<BlockRef>,
    fingerprintKey: Uint8Array,
    signal: AbortSignal,
  ): AsyncGenerator<ParsedBlock>;
  close(): Promise<void>;
}

/**
 * Number of blocks that are read and parsed while the writer applies a batch of usual blocks. The writer takes all
 * blocks of a batch at once. Without these blocks it then waited for most of the next batch. That wait was a fifth of a
 * first sync.
 */
const batchAhead = 4;

/**
 * Maximum number of blocks processed ahead: one in each worker, one waiting for each worker, one being read, and those
 * of the next batch.
 */
function lookAheadBlocks(threads: number): number {
  return threads * 2 + 1 + batchAhead;
}

export function createParsePool(buffers: BufferPool, options: ParsePoolOptions = {}): ParsePool {
  const { threads: wanted = Math.ceil(availableParallelism() / 2) } = options;
  const shared = typeof wanted === 'number' ? null : wanted;
  const most = typeof wanted === 'number' ? Math.max(1, wanted) : wanted.count;
  const count = Math.min(most, Math.max(1, options.blocks ?? most));
  const textMaxBytes = options.textMaxBytes ?? searchableBytesMaxDefault;
  const lookAhead = lookAheadBlocks(count);
  const onStep = options.onStep ?? (() => undefined);
  const onQueue = options.onQueue ?? (() => undefined);
  const isBackground = options.demand !== undefined;
  const threads = shared ?? startParseThreads({ count, isBackground, queueMax: lookAhead });

  return {
    async *blocks(source, refs, fingerprintKey, signal) {
      const context: ParseContext = {
        threads,
        buffers,
        source,
        fingerprintKey,
        textMaxBytes,
        facts: options.facts ?? noFacts,
        signal,
        onStep,
        columnsBytes: new Map(),
        demand: options.demand ?? null,
        stages: new ParseStages(options.stages ?? null),
      };
      const underWay: { readonly ref: BlockRef; readonly parsing: Promise<ParsedBlock> }[] = [];
      const iterator = refs[Symbol.iterator]();
      const start = (): boolean => {
        const next = iterator.next();
        if (next.done === true) return false;
        const parsing = parse(context, next.value);
        // the caller that takes this block gets the error; it must not count as an unhandled rejection until then
        parsing.catch(() => undefined);
        underWay.push({ ref: next.value, parsing });
        onQueue(underWay.length, lookAhead);
        return true;
      };
      try {
        while (underWay.length < lookAhead && start());
        for (let next = underWay.shift(); next !== undefined; next = underWay.shift()) {
          const waited = context.stages.blockWaited(next.ref);
          const block = await next.parsing;
          waited();
          signal.throwIfAborted();
          start();
          yield block;
        }
      } finally {
        await Promise.allSettled(underWay.map(({ parsing }) => parsing));
        onQueue(0, lookAhead);
      }
    },
    close: () => (shared === null ? threads.close() : Promise.resolve()),
  };
}

interface ParseContext {
  readonly threads: ParseThreads;
  readonly buffers: BufferPool;
  readonly source: BlockSource;
  readonly fingerprintKey: Uint8Array;
  readonly textMaxBytes: number;
  readonly facts: FactSet;
  readonly signal: AbortSignal;
  readonly onStep: (step: ParseStep, seconds: number) => void;
  readonly demand: SearchDemand | null;
  readonly stages: ParseStages;
  /**
   * Keyed by size of the block's buffer: size of the largest columns so far. The columns of the next block mostly fit
   * in that size.
   */
  readonly columnsBytes: Map<number, number>;
}

/**
 * Initial size of a columns buffer: enough for the columns of the empty blocks at the beginning of a chain. A batch may
 * hold a thousand of these blocks.
 */
const columnsBytesFirst = 4 * 1024;

async function parse(context: ParseContext, ref: BlockRef): Promise<ParsedBlock> {
  const { threads, buffers, source, fingerprintKey, textMaxBytes, signal, onStep, stages } = context;
  const startedAt = performance.now();
  const read = await stages.fetch(ref, () => source.read(ref, signal, buffers));
  const fetchedAt = performance.now();
  failpoint('fetch');
  onStep('fetch', (fetchedAt - startedAt) / 1000);
  signal.throwIfAborted();
  const block = inShared(read.bytes, buffers);
  const spent = read.spentOutputs === null ? null : inShared(read.spentOutputs, buffers);
  const blockClass = block.buffer.byteLength;
  const into = buffers.take(context.columnsBytes.get(blockClass) ?? columnsBytesFirst);
  const job: ParseJob = {
    block,
    spent,
    hash: ref.hash,
    height: ref.height,
    network: source.network,
    verify: !source.trusted,
    fingerprintKey,
    textMaxBytes,
    into,
    facts: context.facts,
    isTimed: stages.isDetailed,
  };
  const run = (): Promise<ParseJobResult> => threads.run(job);
  const parsed = stages.parsing(ref, block.length);
  const result = await (context.demand === null ? run() : context.demand.turn(run));
  parsed(result);
  failpoint('parse');
  onStep('parse', (performance.now() - fetchedAt) / 1000);
  const used = [block.buffer, into];
  if (spent !== null) {
    // the scripts of `spent-scripts` are ranges of these bytes
    if (context.facts.has('spent-scripts')) used.push(spent.buffer);
    else buffers.give(spent.buffer);
  }
  const release = (): void => used.splice(0).forEach((buffer) => buffers.give(buffer));
  if (!result.ok) {
    release();
    const hash = displayHash(ref.hash);
    throw new AppError(
      result.code,
      `Block ${ref.height} ${hash} of ${source.name}: ${result.message} (byte ${result.at}).`,
      { height: ref.height, hash, at: result.at },
    );
  }
  if (result.columns !== null) {
    const most = context.columnsBytes.get(blockClass) ?? 0;
    context.columnsBytes.set(blockClass, Math.max(most, result.columns.byteLength));
  }
  const columns = decodeBlockColumns(result.columns ?? into);
  return {
    ref,
    columns,
    bytes: block,
    hasSpent: spent !== null,
    heldBytes: used.reduce((sum, { byteLength }) => sum + byteLength, 0),
    facts: openFacts(context.facts, result.facts, { bytes: block, columns, spent }),
    release,
  };
}

/**
 * The same bytes in shared memory, where the workers can read them. If a source did not use the pool, its bytes are
 * copied.
 */
function inShared(bytes: Uint8Array, buffers: BufferPool): Uint8Array<SharedArrayBuffer> {
  if (bytes.buffer instanceof SharedArrayBuffer) {
    return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.length);
  }
  const copy = new Uint8Array(buffers.take(bytes.length), 0, bytes.length);
  copyBytes(bytes, 0, bytes.length, copy, 0);
  return copy;
}
