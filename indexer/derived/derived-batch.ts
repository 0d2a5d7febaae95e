import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { Fact, FactSet } from '#indexer/facts/fact.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { CopyEncoder, copyBinary } from '#kernel/pg/copy-binary.ts';
import type { DerivedBlock, DerivedRows, DerivedTable } from './derived-table.ts';

/** A derived table that takes the rows of blocks from a height on. */
export interface ActiveTable {
  readonly table: DerivedTable;
  readonly fromHeight: number;
}

/** Encoders of active tables: a list per table, one encoder per target. Batches use them in turn. */
export type DerivedEncoders = readonly (readonly CopyEncoder[])[];

export function derivedEncoders(active: readonly ActiveTable[]): DerivedEncoders {
  return active.map(({ table }) =>
    table.targets.map(({ columns }) => new CopyEncoder(columns.split(',').length)),
  );
}

/** The facts that some tables need of a block. */
export function factsOf(tables: readonly DerivedTable[]): FactSet {
  return new Set(tables.flatMap(({ facts }): readonly Fact[] => facts));
}

/** The part of a batch that one table takes. */
export interface DerivedPart extends ActiveTable {
  readonly encoders: readonly CopyEncoder[];
  readonly rows: DerivedRows;
}

/** What a batch of consecutive blocks adds to derived tables. */
export class DerivedBatch {
  readonly parts: readonly DerivedPart[];
  readonly encoders: DerivedEncoders;
  /** The block that was added last. */
  last: DerivedBlock | null = null;

  /** @param encoders empty ones, made for the same tables */
  constructor(active: readonly ActiveTable[], encoders: DerivedEncoders = derivedEncoders(active)) {
    this.encoders = encoders;
    this.parts = active.map((each, at) => {
      const own = encoders[at];
      assert(own !== undefined, `encoders of ${each.table.name}`);
      return { ...each, encoders: own, rows: each.table.begin(own) };
    });
  }

  /** Throws where a table cannot take a block after the tip. Then nothing has changed. */
  refuse(ref: BlockRef, tip: BlockRef | null): void {
    for (const { table, fromHeight } of this.parts) {
      if (ref.height >= fromHeight) table.refuse?.(ref, tip);
    }
  }

  add(block: DerivedBlock): void {
    this.last = block;
    for (const { rows, fromHeight } of this.parts) {
      if (block.block.ref.height >= fromHeight) rows.add(block);
    }
  }

  /** A COPY for each target that gets rows, then each table's further statements. In a transaction. */
  async write(tx: pg.ClientBase): Promise<void> {
    for (const { table, encoders, rows } of this.parts) {
      for (const [at, { table: name, columns }] of table.targets.entries()) {
        const encoder = encoders[at];
        if (encoder !== undefined && encoder.rows > 0) await copyBinary(tx, `${name} (${columns})`, encoder);
      }
      await rows.write?.(tx);
    }
  }
}
