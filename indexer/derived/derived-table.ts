import type pg from 'pg';
import type { EventKind, LedgerEvents } from '#indexer/events/event-kind.ts';
import type { Fact } from '#indexer/facts/fact.ts';
import type { HeldInscriptions, LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import type { FingerprintKey } from '#indexer/transaction/outpoint-fingerprint.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { CopyEncoder, CopyTarget } from '#kernel/pg/copy-binary.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkParameters } from '#kernel/primitives/network.ts';

/** An index besides the primary keys. */
export interface SecondaryIndex {
  readonly table: string;
  readonly unique?: true;
  /** Absent: a B-tree. */
  readonly method?: 'gin';
  readonly columns: string;
  readonly where?: string;
  /** Undo needs it: it is built before an undo that interrupts a first load. */
  readonly isForUndo?: true;
}

/** A target of COPY. It may have a column `spent_height`. */
export interface DerivedTarget extends CopyTarget {
  /**
   * How `verify` finds the rows of a block. `height`: by that column. `key`: by a column with the keys of its
   * inscriptions. `compare`: with that function, because later blocks delete rows. Absent: by height.
   */
  readonly rowsBy?: 'height' | 'key' | 'compare';
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
  /** The source has not checked the block's spends: a missing output is then a fault of the block, otherwise ours. */
  readonly isUnchecked: boolean;
}

/** The newest blocks of a chain, as far as they are known. */
export interface NewestBlocks {
  readonly keepBlocks: number;
  /** The highest known block of the source. */
  readonly tipHeight: () => number;
}

/** Settings shared by all blocks of a chain. */
export interface DerivedChain {
  readonly network: NetworkParameters;
  readonly fingerprintKey: FingerprintKey;
  /** Reads a block of the chain again, for facts of the blocks just before a batch. */
  readonly readBlock: (ref: BlockRef) => Promise<Uint8Array>;
  /** Number of rows of the newest blocks that a memory keeps; absent: its own default. For tests. */
  readonly cacheEntries?: number | undefined;
  /** The blocks that can be taken back, for a table that keeps undo data of these only; absent: all. */
  readonly undo?: NewestBlocks;
}

/** The chain of some rows, and the memory of their table. */
export interface DerivedContext {
  readonly chain: DerivedChain;
  /** Null: the database is queried instead. `verify` does so. */
  readonly memory: DerivedMemory | null;
}

/**
 * A writing process's memory of a table's committed rows, with which most batches need no query. It can be read again
 * from the rows.
 */
export interface DerivedMemory {
  /** Updates the memory after a block was taken back. */
  unlearn(outpoints: UndoneOutpoints): void;
}

/** Changes of a memory after an undo: outpoints of 36 bytes each, one after another. */
export interface UndoneOutpoints {
  /** Outputs that no longer exist. */
  readonly made: Uint8Array;
  /** Outputs that are unspent again. */
  readonly spent: Uint8Array;
}

/** Which derived tables an operator wants. */
export interface DerivedSettings {
  /** The owner of every output (--index-addresses). */
  readonly indexAddresses: boolean;
  /** Runes (INDEX_RUNES). */
  readonly indexRunes: boolean;
  /** The ranges of sats of every output (--index-sats). */
  readonly indexSats: boolean;
  /** Sales of inscriptions (INDEX_SALES). */
  readonly indexSales: boolean;
}

/** A block that is being taken back. */
export interface UndoneRows {
  readonly ref: BlockRef;
  /** Lowest key of its inscriptions; they have all keys from it on. Their rows still exist. */
  readonly firstKey: number;
}

/** Indexed blocks that a derived table takes next: a range of heights, with all inscriptions of its blocks. */
export interface IndexedBlocks {
  /** The first key of the first block. `nextKey` is the first key after the last block. */
  readonly firstKey: number;
  readonly nextKey: number;
}

/** Rows of one table and column, expected and stored, each as a text that names it. */
export interface RowSets {
  readonly table: string;
  /** Null: the whole row. */
  readonly column: string | null;
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

/** A derived table's chance to query the database before a batch of blocks is added. */
export interface DerivedQuestion {
  readonly client: pg.ClientBase;
  /** The blocks that are added after the answer, ascending; at least one. */
  readonly blocks: readonly ParsedBlock[];
  /**
   * The table has the rows of all blocks below this height. Rows of other blocks and their changes must be ignored:
   * `verify` asks tables that have later blocks too.
   */
  readonly below: number;
  /**
   * The table's rows of the blocks from `below` to the first of these: a batch that is being committed. Null: there is
   * no such batch. Valid only during the answer.
   */
  readonly before: DerivedRows | null;
}

/** The rows that a batch of consecutive blocks adds to a derived table. */
export interface DerivedRows {
  /**
   * Queries facts of earlier blocks that `add` needs, such as the balances of the outputs that the blocks spend. Called
   * once before the first block is added. The number of statements must not grow with blocks or rows.
   */
  ask?(question: DerivedQuestion): Promise<void>;
  /** Adds a block. Pure: it writes into encoders and memory, and throws only broken invariants. */
  add(block: DerivedBlock): void;
  /** Completes the rows: no block follows. The blocks still exist as they were added. */
  end?(): void;
  /**
   * The events of the block that was added last; needed if the table names a kind of events. Null: they are unknown.
   */
  events?(): LedgerEvents | null;
  /**
   * Runs statements after the COPY of the rows, in the same transaction. Their number must not grow with blocks or
   * rows.
   */
  write?(tx: pg.ClientBase): Promise<void>;
  /** Updates memory after the rows were committed. */
  committed?(): void;
  /**
   * Compares rows that a COPY does not show, for `verify`, after one block was added. The table also has later blocks.
   */
  compare?(tx: pg.ClientBase, block: DerivedBlock): Promise<RowSets[]>;
}

/**
 * Rules that may change. A new version rebuilds the rows of all blocks in the background, while the old ones answer
 * (docs/adr/0052-rules-of-sales.md). So each row belongs to one block, whatever its version: the table has no questions
 * and no memory, and undo deletes by height.
 */
export interface DerivedRules {
  /** From 1 on. It is also the version of the table's events. */
  readonly version: number;
  /** Deletes the rows of all blocks from one height to another, both included. */
  readonly forget: (tx: pg.ClientBase, from: Height, to: Height) => Promise<void>;
}

/**
 * Everything about a table that is derived from blocks. Writer, undo, index builder, `verify`, the catch-up pass and
 * the tests iterate over the list of these values (./derived-tables.ts); none of them names a table.
 */
export interface DerivedTable {
  /** Its name in `chain.derived_tables`, `/status` and messages. */
  readonly name: string;
  /** The facts of a block that it needs besides its inscriptions. */
  readonly facts: readonly Fact[];
  readonly targets: readonly DerivedTarget[];
  readonly indexes: Readonly<Record<string, SecondaryIndex>>;
  /** The lowest block with rows. */
  readonly firstHeight: (network: NetworkParameters) => number;
  readonly isWanted: (settings: DerivedSettings) => boolean;
  /** The kind of events that its rows make. Its first height is that of the table. Absent: no events. */
  readonly eventKind?: EventKind;
  /** Absent: its rules never change. */
  readonly rules?: DerivedRules;
  /**
   * The error if a database with blocks disagrees with the settings: the table exists from the first block on or never.
   * Absent: a catch-up pass can add it later.
   */
  readonly refusal?: (isWanted: boolean) => AppError;
  /** Throws if it cannot take a block after this tip. Absent: it takes every block. */
  readonly refuse?: (ref: BlockRef, tip: BlockRef | null) => void;
  /**
   * Writes the rows that come from no block, once the table is wanted. They may exist already. No undo deletes them.
   */
  readonly create?: (tx: pg.ClientBase, network: NetworkParameters) => Promise<void>;
  /** Reads the memory of a writing process. Absent: the table has no memory. */
  readonly openMemory?: (client: pg.ClientBase, chain: DerivedChain) => Promise<DerivedMemory>;
  /** @param out one encoder per target, in their order */
  readonly begin: (out: readonly CopyEncoder[], context: DerivedContext) => DerivedRows;
  /** It has the properties of inscriptions: `chain.inscription_details` lacks those of its blocks. */
  readonly hasProperties?: true;
  /**
   * Adds the rows of indexed blocks from other tables, in order. A catch-up pass then reads no blocks. The table must
   * have neither facts nor events. Absent: its rows need the blocks.
   */
  readonly fill?: (tx: pg.ClientBase, blocks: IndexedBlocks) => Promise<void>;
  /**
   * It needs the lost sats counted from the first block on, and so the ledger counts them (as ord does with a sat
   * index).
   */
  readonly countsLostSats?: true;
  /**
   * Writes the rows that batches of a load put off, after its end, while nothing else is written. Absent: no rows are
   * put off.
   */
  readonly settle?: (tx: pg.ClientBase, memory: DerivedMemory | null) => Promise<void>;
  /**
   * Throws if it cannot take back the blocks above a height, before the first of them is taken back. Absent: it can.
   *
   * @param past null: only the tables have the past of the blocks
   */
  readonly refuseUndo?: (client: pg.ClientBase, height: Height | -1, past: PastChain | null) => Promise<void>;
  /** Prepares to take back the block at the tip, before the transaction that does it. Absent: nothing to prepare. */
  readonly prepareUndo?: (
    client: pg.ClientBase,
    ref: BlockRef,
    past: PastChain | null,
    signal?: AbortSignal,
  ) => Promise<void>;
  /**
   * Undoes the block at the tip of the table. The inscriptions' rows still exist. Returns changes for the memory, if
   * the table has one.
   */
  readonly undo: (tx: pg.ClientBase, undone: UndoneRows) => Promise<UndoneOutpoints | void>;
  /** A query with columns "table", "row", "height" for rows up to height $1 that no block wrote. */
  readonly strays?: string;
}
