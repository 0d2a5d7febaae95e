import type pg from 'pg';
import type { Fact } from '#indexer/facts/fact.ts';
import type { HeldInscriptions, LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** An index beside the primary keys. */
export interface SecondaryIndex {
  readonly table: string;
  readonly unique?: true;
  readonly columns: string;
  readonly where?: string;
  /** Taking back a block needs it: it is built before, where a first load has not come to it yet. */
  readonly isForUndo?: true;
}

/** A table that rows are copied into. It has a column `height`, and may have a column `spent_height`. */
export interface DerivedTarget {
  readonly table: string;
  /** In the order in which they are encoded. */
  readonly columns: string;
  /** So many columns at the beginning are the key by which `verify` finds a row; 0: the whole row. */
  readonly keyColumns: number;
}

/** A block as the ledger left it, on its way into derived tables. */
export interface DerivedBlock {
  /** With the facts that the table asks for. */
  readonly block: ParsedBlock;
  readonly ledger: LedgerBlock;
  /** Inscriptions in outputs of earlier blocks that it spends. */
  readonly held: HeldInscriptions;
  /** Nobody has checked what the block spends: what is missing is then its fault, otherwise it is ours. */
  readonly isUnchecked: boolean;
}

/** Which derived tables an operator wants. */
export interface DerivedSettings {
  /** The owner of every output (--index-addresses). */
  readonly indexAddresses: boolean;
}

/** A block that is being taken back. */
export interface UndoneRows {
  readonly ref: BlockRef;
  /** Its inscriptions have this key and the ones above. Their rows are still there. */
  readonly firstKey: number;
}

/** Rows of one table and column, those that a block gives and those that are stored, each as a text that names it. */
export interface RowSets {
  readonly table: string;
  /** Null: the row as a whole. */
  readonly column: string | null;
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

/** What a batch of consecutive blocks adds to a derived table. */
export interface DerivedRows {
  /** Adds what a block does. Pure: it writes into encoders and memory, and throws nothing but broken invariants. */
  add(block: DerivedBlock): void;
  /** Statements behind the COPY of the rows, in the same transaction; few, whatever the number of blocks and rows. */
  write?(tx: pg.ClientBase): Promise<void>;
  /** For `verify`, with one block added: what copied rows do not show. Later blocks are in the table too. */
  compare?(tx: pg.ClientBase, block: DerivedBlock): Promise<RowSets[]>;
}

/**
 * All there is to a table that follows from blocks. Writer, undo, index builder, `verify`, the catch-up pass and the tests go
 * over the list of these values (./derived-tables.ts); none of them knows a table by name.
 */
export interface DerivedTable {
  /** In `chain.derived_tables`, in `/status` and in messages. */
  readonly name: string;
  /** What it needs to be read of a block beside its inscriptions. */
  readonly facts: readonly Fact[];
  readonly targets: readonly DerivedTarget[];
  readonly indexes: Readonly<Record<string, SecondaryIndex>>;
  /** Blocks below have no rows. */
  readonly firstHeight: (network: NetworkParameters) => number;
  readonly isWanted: (settings: DerivedSettings) => boolean;
  /** It is there from the first block on or never; what is thrown where a database with blocks says otherwise. Absent: it is added later by a catch-up pass. */
  readonly refusal?: (isWanted: boolean) => AppError;
  /** Throws where it cannot take a block behind this tip. Absent: it takes every block. */
  readonly refuse?: (ref: BlockRef, tip: BlockRef | null) => void;
  /** @param out an encoder for each target, in their order */
  readonly begin: (out: readonly CopyEncoder[]) => DerivedRows;
  /** Takes back what the block at the tip of the table did. The rows of inscriptions are still there. */
  readonly undo: (tx: pg.ClientBase, undone: UndoneRows) => Promise<void>;
  /** A query of columns "table", "row", "height" for rows up to height $1 that no block wrote. */
  readonly strays?: string;
}
