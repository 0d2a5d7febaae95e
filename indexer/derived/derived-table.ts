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
   * How `verify` finds the rows of a block: by a column `height`, or by a column `key` with the keys of its
   * inscriptions; or it does not, because later blocks delete them: then `compare` does. Absent: by height.
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
  /** The source has not checked the block's spends: a missing output is then the block's fault, otherwise ours. */
  readonly isUnchecked: boolean;
}

/** The newest blocks of a chain, as far as it is known. */
export interface NewestBlocks {
  readonly keepBlocks: number;
  /** The highest block that is known to come. */
  readonly tipHeight: () => number;
}

/** What all blocks of a chain share. */
export interface DerivedChain {
  readonly network: NetworkParameters;
  readonly fingerprintKey: FingerprintKey;
  /** Reads a block of the chain again, for what must be known of the blocks just before a batch. */
  readonly readBlock: (ref: BlockRef) => Promise<Uint8Array>;
  /** Rows that a memory keeps of the newest blocks; absent: what it thinks best. For tests. */
  readonly cacheEntries?: number | undefined;
  /** The blocks that can be taken back, for a table that keeps what undo needs of these alone; absent: all. */
  readonly undo?: NewestBlocks;
}

/** The chain of some rows, and what is remembered of the table. */
export interface DerivedContext {
  readonly chain: DerivedChain;
  /** Null: nothing is remembered, the database is asked. So does `verify`. */
  readonly memory: DerivedMemory | null;
}

/**
 * What a process that writes remembers of a table's committed rows, so that most batches ask nothing. It can be read
 * again from the rows.
 */
export interface DerivedMemory {
  /** A block was taken back. */
  unlearn(outpoints: UndoneOutpoints): void;
}

/** What memory must unlearn of a block: outpoints of 36 bytes each, one after another. */
export interface UndoneOutpoints {
  /** Outputs that are gone. */
  readonly made: Uint8Array;
  /** Outputs that are unspent once more. */
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
  /** Its inscriptions have this key and higher ones. Their rows still exist. */
  readonly firstKey: number;
}

/** Indexed blocks that a derived table takes next: those of a range of heights, with all of their inscriptions. */
export interface IndexedBlocks {
  /** The first key of the first block, and the first one after the last. */
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
  /** No block follows: completes the rows. The blocks are still there, as they were added. */
  end?(): void;
  /**
   * The events of the block that was added last; needed where the table names a kind of events. Null: what the block
   * did is not known.
   */
  events?(): LedgerEvents | null;
  /**
   * Statements after the COPY of the rows, in the same transaction; their number must not grow with blocks or rows.
   */
  write?(tx: pg.ClientBase): Promise<void>;
  /** The rows are committed: memory learns them. */
  committed?(): void;
  /**
   * For `verify`, after one block was added: compares what copied rows do not show. The table also has later blocks.
   */
  compare?(tx: pg.ClientBase, block: DerivedBlock): Promise<RowSets[]>;
}

/**
 * Rules that may change. A new version makes the rows of all blocks anew, in the background, while the old ones answer
 * (docs/adr/0052-rules-of-sales.md). So rows of any version belong to one block alone: the table asks nothing,
 * remembers nothing, and undo deletes by height.
 */
export interface DerivedRules {
  /** From 1 on. Beside the events of the table it is their version too. */
  readonly version: number;
  /** Deletes the rows of all blocks from one height to another, both included. */
  readonly forget: (tx: pg.ClientBase, from: Height, to: Height) => Promise<void>;
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
  /** Absent: its rules never change. */
  readonly rules?: DerivedRules;
  /**
   * It exists from the first block on or never: the error thrown where a database with blocks disagrees. Absent: it
   * can be added later, by a catch-up pass.
   */
  readonly refusal?: (isWanted: boolean) => AppError;
  /** Throws where it cannot take a block after this tip. Absent: it takes every block. */
  readonly refuse?: (ref: BlockRef, tip: BlockRef | null) => void;
  /** Writes the rows that no block makes, once the table is wanted. They may be there already. No undo deletes them. */
  readonly create?: (tx: pg.ClientBase, network: NetworkParameters) => Promise<void>;
  /** Reads what a process that writes remembers. Absent: nothing. */
  readonly openMemory?: (client: pg.ClientBase, chain: DerivedChain) => Promise<DerivedMemory>;
  /** @param out an encoder per target, in their order */
  readonly begin: (out: readonly CopyEncoder[], context: DerivedContext) => DerivedRows;
  /** It has the properties of inscriptions: those of its blocks are not in `chain.inscription_details`. */
  readonly hasProperties?: true;
  /**
   * Adds the rows of indexed blocks from what other tables have, in order. A catch-up pass then reads no blocks. The
   * table must have neither facts nor events. Absent: its rows need the blocks.
   */
  readonly fill?: (tx: pg.ClientBase, blocks: IndexedBlocks) => Promise<void>;
  /**
   * It needs to know of the sats that are lost from the first block on, and so does the ledger (ord with a sat index
   * counts them so).
   */
  readonly countsLostSats?: true;
  /**
   * A load has ended, and nothing is being written: writes the rows that its batches put off. Absent: they put off
   * none.
   */
  readonly settle?: (tx: pg.ClientBase, memory: DerivedMemory | null) => Promise<void>;
  /**
   * Throws where it cannot take back the blocks above a height, before the first of them is. Absent: it can.
   *
   * @param past null: what the blocks did can be read nowhere but in the tables
   */
  readonly refuseUndo?: (client: pg.ClientBase, height: Height | -1, past: PastChain | null) => Promise<void>;
  /** Makes ready to take back the block at the tip, before the transaction that does. Absent: it is ready. */
  readonly prepareUndo?: (
    client: pg.ClientBase,
    ref: BlockRef,
    past: PastChain | null,
    signal?: AbortSignal,
  ) => Promise<void>;
  /**
   * Undoes the block at the tip of the table. The inscriptions' rows still exist. Returns what memory must unlearn,
   * where the table has one.
   */
  readonly undo: (tx: pg.ClientBase, undone: UndoneRows) => Promise<UndoneOutpoints | void>;
  /** A query with columns "table", "row", "height" for rows up to height $1 that no block wrote. */
  readonly strays?: string;
}
