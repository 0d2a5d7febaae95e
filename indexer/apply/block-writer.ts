import { strict as assert } from 'node:assert';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { DerivedBatch } from '#indexer/derived/derived-batch.ts';
import { DerivedMemories } from '#indexer/derived/derived-memories.ts';
import { expandFingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { PipelinedTransactions, withTransaction } from '#kernel/pg/transaction.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { batchDecided, batchesBegin, seam } from '#kernel/process/failpoint.ts';
import { stageClock } from '#kernel/stages/span.ts';
import type { StageRecorder } from '#kernel/stages/stage-recorder.ts';
import { Batch, EncoderPool } from './batch.ts';
import { BatchQuestions } from './batch-questions.ts';
import type { ChainPosition } from './chain-position.ts';
import { type ChainSession, readPosition } from './chain-session.ts';
import { addToBatch, type ChainFacts, endBatch } from './fill-batch.ts';
import { anyInput } from './memory/held-lookup.ts';
import { loadWriterMemory, type WriterMemory } from './memory/writer-memory.ts';
import { deflateTexts, OutboxWriter } from './outbox-rows.ts';
import { type UndoHook, type UndoOptions, undoAbove } from './undo.ts';
import { writeBatch } from './write-batch.ts';
import { WriterStages } from './writer-stages.ts';

/** Summary of a committed batch. */
export interface Committed {
  readonly blocks: number;
  readonly bytes: number;
  readonly inscriptions: number;
  readonly position: ChainPosition;
}

/** Phases of the writer's work whose duration is reported. */
export type WriterStep = 'ledger' | 'write' | 'undo';

export interface BlockWriterOptions {
  readonly session: ChainSession;
  readonly facts: Omit<ChainFacts, 'fingerprintKey'>;
  readonly onCommit?: (committed: Committed) => void;
  readonly onStep?: ((step: WriterStep, seconds: number) => void) | undefined;
  readonly stages?: StageRecorder | undefined;
  /** Number of cache entries of the content registry and of the metadata registry. Absent: the defaults. */
  readonly cacheEntries?: number | undefined;
  /** Searches to which a bulk load gives way, before each block and each batch. */
  readonly demand?: SearchDemand | undefined;
  /**
   * Refuse blocks that spend an already spent output which held inscriptions. Needed if the source has not checked
   * spends.
   */
  readonly checksSpends?: boolean;
}

interface Memory {
  readonly own: WriterMemory;
  readonly derived: DerivedMemories;
}

/**
 * Writes parsed blocks into the database in batches, in chain order, and takes blocks back. The next batch is prepared
 * while one is being written, so at most two are in memory. A writer lives as long as its session. Every commit and
 * every block taken back updates its memory. After an error the writer cannot be used again: the next writer reads its
 * memory from the tables.
 */
export class BlockWriter {
  readonly #session: ChainSession;
  readonly #facts: ChainFacts;
  readonly memory: WriterMemory;
  readonly #derivedMemories: DerivedMemories;
  readonly #questions: BatchQuestions;
  readonly #encoders: EncoderPool;
  readonly #transactions: PipelinedTransactions;
  readonly #outbox = new OutboxWriter();
  readonly #onCommit: (committed: Committed) => void;
  readonly #onStep: (step: WriterStep, seconds: number) => void;
  readonly #demand: SearchDemand | null;
  readonly #stages: WriterStages;
  #position: ChainPosition;
  /** True while a batch is being prepared. */
  #isPreparing = false;
  /** The batch that is being written. */
  #underWay: Batch | null = null;
  #writing: Promise<void> = Promise.resolve();

  private constructor(
    options: BlockWriterOptions,
    facts: ChainFacts,
    position: ChainPosition,
    memory: Memory,
  ) {
    const { session } = options;
    this.#session = session;
    this.#transactions = new PipelinedTransactions(session.writer);
    this.#facts = facts;
    this.#derivedMemories = memory.derived;
    this.memory = memory.own;
    this.#encoders = new EncoderPool(session.followed.active);
    this.#position = position;
    this.#questions = new BatchQuestions(session.reader, memory.own);
    this.#onCommit = options.onCommit ?? (() => undefined);
    this.#demand = options.demand ?? null;
    this.#onStep = options.onStep ?? (() => undefined);
    this.#stages = new WriterStages(options.stages ?? null);
  }

  static async open(options: BlockWriterOptions): Promise<BlockWriter> {
    const { session, cacheEntries, checksSpends } = options;
    const facts = { ...options.facts, fingerprintKey: expandFingerprintKey(session.fingerprintKey) };
    const tables = session.followed.active.map(({ table }) => table);
    const memory = {
      own: await loadWriterMemory(session.reader, cacheEntries, checksSpends),
      derived: await DerivedMemories.open(session.reader, tables, { ...facts, cacheEntries }),
    };
    batchesBegin();
    return new BlockWriter(options, facts, await readPosition(session.writer), memory);
  }

  /** The tip after the last batch whose write has begun. */
  get tip(): BlockRef | null {
    return this.#position.tip;
  }

  /**
   * Applies consecutive blocks and begins to write them. Resolves when the next blocks may come; the given blocks are
   * released then. Throws the reason why a block is refused, after the write of the blocks before it has begun. Also
   * throws errors of the previous batch and internal errors: in both cases no block of this call is written.
   */
  async write(blocks: readonly ParsedBlock[], isBulk: boolean): Promise<void> {
    this.#isPreparing = true;
    try {
      await this.#prepare(blocks, isBulk);
    } finally {
      this.#isPreparing = false;
    }
  }

  /** Applies blocks, and begins to write them after the previous batch. */
  async #prepare(blocks: readonly ParsedBlock[], isBulk: boolean): Promise<void> {
    const { memory } = this;
    // outputs that are uncommitted at this point are looked up in the pending batch, even if its commit comes before
    // these blocks are applied
    const onTheirWay = this.#underWay === null ? [] : [anyInput(this.#underWay.outputs)];
    const endedOnTheirWay = this.#underWay === null ? [] : [this.#underWay.ended];
    const derivedOnTheirWay = this.#underWay?.derived ?? null;
    const stages = this.#stages;
    const answers = await stages.asking(blocks, () => this.#questions.ask(blocks));
    const encoders = this.#encoders.take();
    const { active } = this.#session.followed;
    const derived = new DerivedBatch(active, this.#facts, this.#derivedMemories, encoders.derived);
    await stages.asking(blocks, () => derived.ask(this.#session.reader, blocks, derivedOnTheirWay));
    const batch = new Batch(
      this.#position,
      encoders.own,
      { contents: memory.contents.begin(), metadata: memory.metadata.begin() },
      derived,
    );
    let refusal: { readonly error: unknown } | null = null;
    let ledgerMs = 0;
    for (const [index, block] of blocks.entries()) {
      let startedAt = performance.now();
      const readyAt = stageClock();
      try {
        const inputs = answers.inputs[index] as Uint32Array;
        const known = {
          contents: answers.contents[index] as Int32Array,
          metadata: answers.metadata[index] as Int32Array,
          held: [{ table: answers.held, inputs }, ...onTheirWay],
          ended: answers.ended === null ? null : [answers.ended, ...endedOnTheirWay],
        };
        await this.#turn(isBulk, () => {
          startedAt = performance.now();
          stages.deciding(block, readyAt, (laps) => addToBatch(batch, block, known, this.#facts, laps));
        });
      } catch (error) {
        if (batch.isTorn) throw error;
        refusal = { error };
        break;
      }
      const events = batch.events.at(-1);
      assert(events !== undefined, 'an applied block has events');
      // zlib's threads compress while the next block is applied
      const stored = deflateTexts(events);
      // handle the rejection even if the batch before this one fails first
      stored.catch(() => undefined);
      batch.storedEvents.push(stored);
      ledgerMs += performance.now() - startedAt;
      // one block takes some milliseconds, so let other tasks run before the next block
      await nextTurn();
    }
    const startedAt = performance.now();
    stages.ending(() => endBatch(batch));
    for (const block of blocks) block.release();
    this.#onStep('ledger', (ledgerMs + performance.now() - startedAt) / 1000);
    batchDecided();
    await this.#begin(batch, isBulk && refusal === null);
    if (refusal !== null) throw refusal.error;
  }

  /** Resolves when every write that has begun is committed. */
  async finish(): Promise<void> {
    try {
      await this.#writing;
    } catch (error) {
      // the first failure has the reason
      await this.#transactions.end().catch(() => undefined);
      throw error;
    }
    await this.#transactions.end();
    this.#stages.finished();
  }

  /** Ends a load: derived tables write the rows that they deferred. */
  async settle(): Promise<void> {
    await this.finish();
    const { writer, followed } = this.#session;
    for (const { table } of followed.active) {
      const { settle } = table;
      if (settle !== undefined)
        await withTransaction(writer, (tx) => settle(tx, this.#derivedMemories.of(table)));
    }
  }

  /** Takes back all blocks above a height (-1: all blocks), from the tip downwards, one transaction each. */
  async undo(
    height: Height | -1,
    hooks: readonly UndoHook[],
    { onUndone, ...options }: Omit<UndoOptions, 'tables'> = {},
  ): Promise<void> {
    // undo only reads rows, and an interrupted load may have deferred some: write these first
    await this.settle();
    const { memory } = this;
    const session = this.#session;
    let startedAt = performance.now();
    await undoAbove(session.writer, height, hooks, {
      ...options,
      tables: session.tables,
      onUndone: (block) => {
        memory.tracked.apply(block.tracked);
        this.#derivedMemories.unlearn(block.derived);
        this.#onStep('undo', (performance.now() - startedAt) / 1000);
        startedAt = performance.now();
        onUndone?.(block);
      },
    });
    this.#position = await readPosition(session.writer);
    this.#outbox.forget();
    memory.contents.forgetFrom(this.#position.nextContentId);
    memory.metadata.forgetFrom(this.#position.nextMetadataId);
    memory.recent.forget();
  }

  /**
   * Runs a piece of work when it may run. In a bulk load searches come first; at the tip searches wait for the block.
   */
  #turn<T>(isBulk: boolean, piece: () => T | Promise<T>): T | Promise<T> {
    return isBulk && this.#demand !== null ? this.#demand.turn(piece) : piece();
  }

  async #begin(batch: Batch, isBulk: boolean): Promise<void> {
    await this.#stages.writeAwaited(this.#writing);
    this.#position = batch.after;
    if (batch.blocks === 0) return;
    this.#underWay = batch;
    this.#writing = this.#commit(batch, isBulk);
    // the next caller that waits gets the error; the rejection must not count as unhandled until then
    this.#writing.catch(() => undefined);
  }

  async #commit(batch: Batch, isBulk: boolean): Promise<void> {
    const { memory } = this;
    const startedAt = performance.now();
    try {
      const { writer, followed } = this.#session;
      const how = {
        epoch: followed.epoch,
        isBulk,
        outbox: this.#outbox,
        transactions: this.#transactions,
        isFollowed: () => this.#isPreparing,
      };
      const write = (): Promise<void> => writeBatch(writer, batch, how);
      await this.#turn(isBulk, () => this.#stages.write(batch.heights, batch.bytes, write));
    } catch (error) {
      memory.contents.rollback();
      memory.metadata.rollback();
      throw error;
    }
    await seam('committed');
    this.#onStep('write', (performance.now() - startedAt) / 1000);
    memory.contents.commit(batch.contents);
    memory.metadata.commit(batch.metadata);
    for (const { tracked } of batch.ledgers) memory.tracked.apply(tracked);
    batch.derived.committed();
    if (memory.spent !== null) batch.ended.addTo(memory.spent);
    await memory.recent.learn(batch.outputs, memory.tracked);
    this.#underWay = null;
    this.#encoders.give({ own: batch.encoders, derived: batch.derived.encoders });
    this.#onCommit({
      blocks: batch.blocks,
      bytes: batch.bytes,
      inscriptions: batch.inscriptions,
      position: batch.after,
    });
  }
}
