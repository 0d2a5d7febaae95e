import {
  type ActiveTable,
  DerivedBatch,
  type DerivedEncoders,
  derivedEncoders,
} from '#indexer/derived/derived-batch.ts';
import type { BlockEvents } from '#indexer/events/block-events.ts';
import type { LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import type { InscriptionKey } from '#kernel/primitives/inscription-key.ts';
import { BatchLocations } from './batch-locations.ts';
import { type BatchEncoders, createEncoders } from './block-rows.ts';
import type { ChainPosition } from './chain-position.ts';
import type { HashTable } from './memory/hash-table.ts';
import { HeldOutputs } from './memory/held-outputs.ts';
import type { StoredBlockEvents } from './outbox-rows.ts';

/** Rows of earlier batches whose locations end now, as columns of an UPDATE. */
export interface LeftRows {
  readonly key: InscriptionKey[];
  readonly height: number[];
  readonly step: number[];
  readonly spentHeight: number[];
}

/** The encoders of a batch: for the tables that every database has, and for derived tables. */
export interface PooledEncoders {
  readonly own: BatchEncoders;
  readonly derived: DerivedEncoders;
}

/** Two sets of encoders, used in turn: one is filled while the other is sent. */
export class EncoderPool {
  readonly #active: readonly ActiveTable[];
  readonly #idle: PooledEncoders[] = [];

  /** @param active the derived tables that batches write */
  constructor(active: readonly ActiveTable[]) {
    this.#active = active;
  }

  take(): PooledEncoders {
    return this.#idle.pop() ?? { own: createEncoders(), derived: derivedEncoders(this.#active) };
  }

  /** Returns encoders to the pool. Call only after their rows were sent. */
  give(encoders: PooledEncoders): void {
    for (const encoder of [...Object.values(encoders.own), ...encoders.derived.flat()]) encoder.reset();
    this.#idle.push(encoders);
  }
}

/**
 * Whole blocks that are being written to the database: their encoded rows, and the data that memory learns at the
 * commit.
 */
export class Batch {
  /** The chain position before the batch. */
  readonly before: ChainPosition;
  after: ChainPosition;
  readonly encoders: BatchEncoders;
  readonly contents: HashTable;
  readonly metadata: HashTable;
  /** Outputs with inscriptions that its blocks made, except outputs that the same block spent. */
  readonly outputs = new HeldOutputs();
  /** Outputs with inscriptions that its blocks spent; empty unless double spends are checked. */
  readonly ended = new HeldOutputs();
  readonly left: LeftRows = { key: [], height: [], step: [], spentHeight: [] };
  readonly derived: DerivedBatch;
  readonly ledgers: LedgerBlock[] = [];
  readonly events: BlockEvents[] = [];
  /** Events of the blocks in their stored form. */
  readonly storedEvents: Promise<StoredBlockEvents>[] = [];
  readonly locations = new BatchLocations();
  /** Number of newest blocks whose event texts are kept. Null: every block with a text keeps it. */
  keptEventBlocks: number | null = null;
  bytes = 0;
  /** True if adding a block failed halfway: the batch must not be written. */
  isTorn = false;

  constructor(
    before: ChainPosition,
    encoders: BatchEncoders,
    tables: { readonly contents: HashTable; readonly metadata: HashTable },
    derived: DerivedBatch,
  ) {
    this.before = before;
    this.after = before;
    this.encoders = encoders;
    this.derived = derived;
    this.contents = tables.contents;
    this.metadata = tables.metadata;
  }

  get blocks(): number {
    return this.ledgers.length;
  }

  /** First and last height, e.g. `767430-767433`. */
  get heights(): string {
    return `${this.ledgers[0]?.height ?? ''}-${this.after.tip?.height ?? ''}`;
  }

  get inscriptions(): number {
    return this.after.counters.nextKey - this.before.counters.nextKey;
  }
}
