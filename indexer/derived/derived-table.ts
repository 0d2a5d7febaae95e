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
  /** Absent: the index is a B-tree. */
  readonly method?: 'gin';
  readonly columns: string;
  readonly where?: string;
  /** True if undo needs the index. It is then built before an undo that interrupts a first load. */
  readonly isForUndo?: true;
}

/** A target of COPY. It may have a column `spent_height`, which names the spending block. */
export interface DerivedTarget extends CopyTarget {
  /**
   * How `verify` finds the rows of a block. `height`: by the column of that name. `key`: by a column with the keys of
   * the block's inscriptions. `compare`: by the function `compare`, because later blocks delete rows. Absent: by
   * height.
   */
  readonly rowsBy?: 'height' | 'key' | 'compare';
  /** Number of leading columns that form the key by which `verify` finds a row; 0: the whole row. */
  readonly keyColumns: number;
}

/** A block as processed by the ledger, input for derived tables. */
export interface DerivedBlock {
  /** The parsed block. It has the data that the table names in `facts`. */
  readonly block: ParsedBlock;
  readonly ledger: LedgerBlock;
  /** Inscriptions in the outputs of earlier blocks that it spends. */
  readonly held: HeldInscriptions;
  /**
   * True if the source has not checked the block's spends. A missing output is then a fault of the block, otherwise an
   * internal fault.
   */
  readonly isUnchecked: boolean;
}

/** The newest blocks of a chain, counted from the highest known block. */
export interface NewestBlocks {
  readonly keepBlocks: number;
  /** The highest known block of the source. */
  readonly tipHeight: () => number;
}

/** Settings shared by all blocks of a chain. */
export interface DerivedChain {
  readonly network: NetworkParameters;
  readonly fingerprintKey: FingerprintKey;
  /** Reads a block of the chain again. Used for facts of the blocks just before a batch. */
  readonly readBlock: (ref: BlockRef) => Promise<Uint8Array>;
  /**
   * Maximum number of rows of the newest blocks that in-memory state keeps. Absent: the table's own default. For tests.
   */
  readonly cacheEntries?: number | undefined;
  /** The blocks that can be taken back. A table may keep undo data of these blocks only. Absent: all blocks. */
  readonly undo?: NewestBlocks;
}

/** The chain that some rows belong to, and the in-memory state of their table. */
export interface DerivedContext {
  readonly chain: DerivedChain;
  /** Null: the database is queried instead, as in `verify`. */
  readonly memory: DerivedMemory | null;
}

/**
 * A writing process's in-memory copy of a table's newest committed rows, so that most batches need no query. It can be
 * read again from the rows.
 */
export interface DerivedMemory {
  /** Updates the memory after a block was taken back. */
  unlearn(outpoints: UndoneOutpoints): void;
}

/** Changes to in-memory state after an undo: outpoints of 36 bytes each, one after another. */
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
  /** Lowest key of the block's inscriptions. They have all keys from this key on. Their rows still exist. */
  readonly firstKey: number;
}

/** Indexed blocks that a derived table takes next, as a range of keys of inscriptions. */
export interface IndexedBlocks {
  /** The first key of the first block. `nextKey` is the first key after the last block. */
  readonly firstKey: number;
  readonly nextKey: number;
}

/** Expected and stored rows of one table and column. Each row is a text that names it. */
export interface RowSets {
  readonly table: string;
  /** Null: whole rows are compared. */
  readonly column: string | null;
  readonly expected: readonly string[];
  readonly found: readonly string[];
}

/** A question that a derived table may ask the database before a batch of blocks is added. */
export interface DerivedQuestion {
  readonly client: pg.ClientBase;
  /** The blocks that will be added after the answer, ascending; at least one. */
  readonly blocks: readonly ParsedBlock[];
  /**
   * The table has the rows of all blocks below this height. Rows and changes of other blocks must be ignored, because
   * `verify` also asks tables that have later blocks.
   */
  readonly below: number;
  /**
   * The table's rows of the blocks between `below` and the first of these blocks: a batch that is being committed. Null
   * if there is no such batch. Valid only until the answer is given.
   */
  readonly before: DerivedRows | null;
}

/** The rows that a batch of consecutive blocks adds to a derived table. */
export interface DerivedRows {
  /**
   * Queries facts of earlier blocks that `add` needs, such as balances of spent outputs. Called once before the first
   * block is added. The number of statements must not grow with blocks or rows.
   */
  ask?(question: DerivedQuestion): Promise<void>;
  /** Adds a block. Pure: it writes into encoders and memory, and throws only broken invariants. */
  add(block: DerivedBlock): void;
  /** Completes the rows. No block may be added afterwards. The bytes of the added blocks still exist. */
  end?(): void;
  /**
   * Events of the block that was added last. Needed if the table names a kind of events. Null: the events are unknown.
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
 * (docs/adr/0052-rules-of-sales.md). Each row therefore belongs to one block, whatever its version. The table asks no
 * questions and has no in-memory state, and undo deletes by height.
 */
export interface DerivedRules {
  /** Starts at 1. It is also the version of the table's events. */
  readonly version: number;
  /** Deletes the rows of all blocks from one height to another, both included. */
  readonly forget: (tx: pg.ClientBase, from: Height, to: Height) => Promise<void>;
}

/**
 * Everything about a table that is derived from blocks. Writer, undo, index builder, `verify`, the catch-up pass and
 * the tests iterate over the list of these values (./derived-tables.ts); so none of this code names a table.
 */
export interface DerivedTable {
  /** Its name in `chain.derived_tables`, `/status` and messages. */
  readonly name: string;
  /** The facts of a block that the table needs besides the block's inscriptions. */
  readonly facts: readonly Fact[];
  readonly targets: readonly DerivedTarget[];
  readonly indexes: Readonly<Record<string, SecondaryIndex>>;
  /** Returns the height of the lowest block with rows. */
  readonly firstHeight: (network: NetworkParameters) => number;
  readonly isWanted: (settings: DerivedSettings) => boolean;
  /**
   * The kind of events that its rows make. The first height of the kind is the first height of the table. Absent: no
   * events.
   */
  readonly eventKind?: EventKind;
  /** Absent: its rules never change. */
  readonly rules?: DerivedRules;
  /**
   * The error if the settings differ from the table in a database with blocks: the table must exist from the first
   * block on or never. Absent: a catch-up pass can add the table later.
   */
  readonly refusal?: (isWanted: boolean) => AppError;
  /** Throws if the table cannot take a block after this tip. Absent: the table takes every block. */
  readonly refuse?: (ref: BlockRef, tip: BlockRef | null) => void;
  /**
   * Writes the rows that no block makes, once the table is wanted. These rows may exist already. No undo deletes them.
   */
  readonly create?: (tx: pg.ClientBase, network: NetworkParameters) => Promise<void>;
  /** Reads the in-memory state of a writing process. Absent: the table has none. */
  readonly openMemory?: (client: pg.ClientBase, chain: DerivedChain) => Promise<DerivedMemory>;
  /** @param out one encoder per target, in their order */
  readonly begin: (out: readonly CopyEncoder[], context: DerivedContext) => DerivedRows;
  /**
   * True if the table stores the properties of inscriptions. `chain.inscription_details` then lacks the properties of
   * its blocks.
   */
  readonly hasProperties?: true;
  /**
   * Adds the rows of indexed blocks from other tables, in order. A catch-up pass then reads no blocks. The table must
   * have neither facts nor events. Absent: the rows can only be made from blocks.
   */
  readonly fill?: (tx: pg.ClientBase, blocks: IndexedBlocks) => Promise<void>;
  /**
   * True if the table needs the lost sats counted from the first block on. The ledger then counts them so, as ord does
   * with a sat index.
   */
  readonly countsLostSats?: true;
  /**
   * Writes, after the end of a load, the rows that batches deferred. Nothing else is written meanwhile. Absent: no rows
   * are deferred.
   */
  readonly settle?: (tx: pg.ClientBase, memory: DerivedMemory | null) => Promise<void>;
  /**
   * Throws if the table cannot take back the blocks above a height. Called before the first block is taken back.
   * Absent: undo is always possible.
   *
   * @param past older blocks of the chain; null: only the tables have past data
   */
  readonly refuseUndo?: (client: pg.ClientBase, height: Height | -1, past: PastChain | null) => Promise<void>;
  /** Prepares to take back the block at the tip, before the transaction that does so. Absent: nothing to prepare. */
  readonly prepareUndo?: (
    client: pg.ClientBase,
    ref: BlockRef,
    past: PastChain | null,
    signal?: AbortSignal,
  ) => Promise<void>;
  /**
   * Undoes the block at the tip of the table. The inscriptions' rows still exist. Returns changes for the in-memory
   * state, if the table has such state.
   */
  readonly undo: (tx: pg.ClientBase, undone: UndoneRows) => Promise<UndoneOutpoints | void>;
  /** A query with columns "table", "row", "height" for rows up to height $1 that no block wrote. */
  readonly strays?: string;
}
