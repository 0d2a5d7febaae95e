import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { EventKind, LedgerEvents } from '#indexer/events/event-kind.ts';
import type { Fact, FactSet } from '#indexer/facts/fact.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { type CopyEncoder, copyBinary, encoderOf } from '#kernel/pg/copy-binary.ts';
import { allAnswers } from '#kernel/pg/transaction.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { DerivedMemories } from './derived-memories.ts';
import type { DerivedBlock, DerivedChain, DerivedRows, DerivedTable } from './derived-table.ts';

/** A derived table that takes the rows of blocks, from a height on. */
export interface ActiveTable {
  readonly table: DerivedTable;
  readonly fromHeight: Height;
}

/** Encoders of active tables: a list per table, with one encoder per target. Batches reuse them. */
export type DerivedEncoders = readonly (readonly CopyEncoder[])[];

export function derivedEncoders(active: readonly ActiveTable[]): DerivedEncoders {
  return active.map(({ table }) => table.targets.map(encoderOf));
}

/** The facts of a block that some tables need. */
export function factsOf(tables: readonly DerivedTable[]): FactSet {
  return new Set(tables.flatMap(({ facts }): readonly Fact[] => facts));
}

/** One table's part of a batch. */
export interface DerivedPart extends ActiveTable {
  readonly encoders: readonly CopyEncoder[];
  readonly rows: DerivedRows;
}

/** The rows that a batch of consecutive blocks adds to derived tables. */
export class DerivedBatch {
  readonly parts: readonly DerivedPart[];
  readonly encoders: DerivedEncoders;
  /** The block that was added first. `last` is the block that was added last. */
  first: BlockRef | null = null;
  last: DerivedBlock | null = null;

  /**
   * @param memories of the tables that have one
   * @param encoders empty, made for the same tables
   */
  constructor(
    active: readonly ActiveTable[],
    chain: DerivedChain,
    memories: DerivedMemories | null,
    encoders: DerivedEncoders = derivedEncoders(active),
  ) {
    this.encoders = encoders;
    this.parts = active.map((each, at) => {
      const own = encoders[at];
      assert(own !== undefined, `encoders of ${each.table.name}`);
      const memory = memories?.of(each.table) ?? null;
      return { ...each, encoders: own, rows: each.table.begin(own, { chain, memory }) };
    });
  }

  /** Throws if a table cannot take a block after the tip. If it throws, nothing has changed. */
  refuse(ref: BlockRef, tip: BlockRef | null): void {
    for (const { table, fromHeight } of this.parts) {
      if (ref.height >= fromHeight) table.refuse?.(ref, tip);
    }
  }

  /**
   * Lets each table query the database before these blocks are added. All blocks of the batch must be given.
   *
   * @param before the batch of the blocks just before these, while it is being committed; null: there is no such batch
   */
  async ask(
    client: pg.ClientBase,
    blocks: readonly ParsedBlock[],
    before: DerivedBatch | null = null,
  ): Promise<void> {
    for (const { table, rows, fromHeight } of this.parts) {
      if (rows.ask === undefined) continue;
      const own = blocks.filter(({ ref }) => ref.height >= fromHeight);
      const [first] = own;
      if (first === undefined) continue;
      const earlier = before?.rowsOf(table) ?? { rows: null, below: first.ref.height };
      await rows.ask({ client, blocks: own, below: earlier.below, before: earlier.rows });
    }
  }

  /** The rows of a table, and the height of the first block of the batch. Null if the batch does not have the table. */
  rowsOf(table: DerivedTable): { readonly rows: DerivedRows; readonly below: number } | null {
    const part = this.parts.find((each) => each.table === table);
    return part === undefined || this.first === null ? null : { rows: part.rows, below: this.first.height };
  }

  add(block: DerivedBlock): void {
    this.first ??= block.block.ref;
    this.last = block;
    for (const { rows, fromHeight } of this.parts) {
      if (block.block.ref.height >= fromHeight) rows.add(block);
    }
  }

  /** Completes the rows. No block may be added afterwards. */
  end(): void {
    for (const { rows } of this.parts) rows.end?.();
  }

  /** Updates memories after the commit of the batch. */
  committed(): void {
    for (const { rows } of this.parts) rows.committed?.();
  }

  /** Events of the last added block that have a table's kind. Null if no table that takes the block has this kind. */
  eventsOf(kind: EventKind): LedgerEvents | null {
    const height = this.last?.block.ref.height ?? -1;
    const part = this.parts.find(({ table }) => table.eventKind?.number === kind.number);
    if (part === undefined || height < part.fromHeight) return null;
    assert(part.rows.events !== undefined, `${part.table.name} has a kind of events, and gives none`);
    return part.rows.events();
  }

  /** Whether a table that takes the block needs lost sats counted from the first block on. */
  countsLostSats(height: Height): boolean {
    return this.parts.some(({ table, fromHeight }) => table.countsLostSats === true && height >= fromHeight);
  }

  /** Whether a table stores the properties of a block's inscriptions. If so, their details lack the properties. */
  hasProperties(height: Height): boolean {
    return this.parts.some(({ table, fromHeight }) => table.hasProperties === true && height >= fromHeight);
  }

  /**
   * Runs a COPY for each target that gets rows, then each table's further statements. Sends as many statements as
   * possible before it waits.
   *
   * @param tx in a transaction of a pipelined connection
   */
  async write(tx: pg.ClientBase): Promise<void> {
    const sent: Promise<unknown>[] = [];
    for (const { table, encoders, rows } of this.parts) {
      for (const [at, target] of table.targets.entries()) {
        const encoder = encoders[at];
        if (encoder === undefined || encoder.rows === 0) continue;
        sent.push(copyBinary(tx, target, encoder));
      }
      if (rows.write !== undefined) sent.push(rows.write(tx));
    }
    await allAnswers(sent);
  }
}
