import type pg from 'pg';
import type { EventKind, LedgerEvents } from '#indexer/events/event-kind.ts';
import type { Fact } from '#indexer/facts/fact.ts';
import type { HeldInscriptions, LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { CopyEncoder } from '#kernel/pg/copy-binary.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** An index besides the primary keys. */
export interface SecondaryIndex {
  readonly table: string;
  readonly unique?: true;
  readonly columns: string;
  readonly where?: string;
  /** Undo needs it: it is built before an undo that interrupts a first load. */
  readonly isForUndo?: true;
}

/** A target of COPY. It has a column `height`, and may have a column `spent_height`. */
export interface DerivedTarget {
  readonly table: string;
  /** In the order of encoding. */
  readonly columns: string;
  /** Number of leading columns that form the key by which `verify` finds a row; 0: the whole row. */
  readonly keyColumns: number;
}

/** A block as processed by the ledger, input for derived tables. */
export interface DerivedBlock {
  /** Includes the facts that the table asks for. */
  readonly block: ParsedBlock;
  readonly ledger: LedgerBlock;
  /** Inscriptions in the outputs of earlier blocks that it spends. */
  readonly held: HeldInscriptions;
  /** The source has not checked the block's spends: a missing output is then the block's fault, otherwise ours. */
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
  /** Its inscriptions have this key and higher ones. Their rows still exist. */
  readonly firstKey: number;
}

/** Rows of one table and column, expected and stored, each as a text that names it. */
export interface RowSets {
  readonly table: string;
  /** Null: the whole row. */
  readonly column: string | null;
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

/** What a derived table may ask the database before a batch of blocks is added. */
export interface DerivedQuestion {
  readonly client: pg.ClientBase;
  /** The blocks that are added after the answer, ascending: one at least. */
  readonly blocks: readonly ParsedBlock[];
  /**
   * The table has the rows of all blocks below this height. Rows of other blocks, and what those changed, must be
   * ignored: `verify` asks a table that has later blocks too.
   */
  readonly below: number;
  /**
   * The table's rows of the blocks from `below` to the first of these: a batch that is being committed. Null: there is
   * none. Only for the time of the answer.
   */
  readonly before: DerivedRows | null;
}

/** What a batch of consecutive blocks adds to a derived table. */
export interface DerivedRows {
  /**
   * Asks the database what `add` must know of earlier blocks, such as the balances of the outputs that the blocks
   * spend. Called once before the first block is added. The number of statements must not grow with blocks or rows.
   */
  ask?(question: DerivedQuestion): Promise<void>;
  /** Adds a block. Pure: it writes into encoders and memory, and throws only broken invariants. */
  add(block: DerivedBlock): void;
  /** The events of the block that was added last; needed where the table names a kind of events. */
  events?(): LedgerEvents;
  /**
   * Statements after the COPY of the rows, in the same transaction; their number must not grow with blocks or rows.
   */
  write?(tx: pg.ClientBase): Promise<void>;
  /**
   * For `verify`, after one block was added: compares what copied rows do not show. The table also has later blocks.
   */
  compare?(tx: pg.ClientBase, block: DerivedBlock): Promise<RowSets[]>;
}

/**
 * Everything about a table that follows from blocks. Writer, undo, index builder, `verify`, the catch-up pass and the
 * tests iterate over the list of these values (./derived-tables.ts); none of them names a table.
 */
export interface DerivedTable {
  /** Its name in `chain.derived_tables`, `/status` and messages. */
  readonly name: string;
  /** The facts that it needs of a block besides its inscriptions. */
  readonly facts: readonly Fact[];
  readonly targets: readonly DerivedTarget[];
  readonly indexes: Readonly<Record<string, SecondaryIndex>>;
  /** Lower blocks have no rows. */
  readonly firstHeight: (network: NetworkParameters) => number;
  readonly isWanted: (settings: DerivedSettings) => boolean;
  /** The kind of events that tell of its rows. Its first height is that of the table. Absent: no events do. */
  readonly eventKind?: EventKind;
  /**
   * It exists from the first block on or never: the error thrown where a database with blocks disagrees. Absent: it
   * can be added later, by a catch-up pass.
   */
  readonly refusal?: (isWanted: boolean) => AppError;
  /** Throws where it cannot take a block after this tip. Absent: it takes every block. */
  readonly refuse?: (ref: BlockRef, tip: BlockRef | null) => void;
  /** @param out an encoder per target, in their order */
  readonly begin: (out: readonly CopyEncoder[]) => DerivedRows;
  /** Undoes the block at the tip of the table. The inscriptions' rows still exist. */
  readonly undo: (tx: pg.ClientBase, undone: UndoneRows) => Promise<void>;
  /** A query with columns "table", "row", "height" for rows up to height $1 that no block wrote. */
  readonly strays?: string;
}
