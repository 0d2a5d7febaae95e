import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import type { HeldInscriptions, LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { EventTextWriter } from '#kernel/events/event-text-writer.ts';

/** A block as processed by the ledger. */
export interface AppliedBlock {
  readonly block: Pick<ParsedBlock, 'ref' | 'columns' | 'bytes' | 'hasSpent'>;
  readonly ledger: LedgerBlock;
  readonly held: HeldInscriptions;
  /** True if all changes of inscriptions in the block are known: the block is anchored, and so is the next block. */
  readonly isKnown: boolean;
  /**
   * The events of a derived table's kind. Null if a catch-up pass fills the table, if the block is below its first
   * height, or if the events are unknown.
   */
  readonly eventsOfTables: (kind: EventKind) => LedgerEvents | null;
}

/** The events of a block of one kind. */
export interface LedgerEvents {
  readonly count: number;
  /** True if all events of this kind in the block are known. The block then belongs to the kind's chain of hashes. */
  readonly isKnown: boolean;
  /**
   * Writes a line per event, in the order of their indexes. The first line, which names the block, is already
   * written.
   */
  readonly write: (out: EventTextWriter) => void;
}

/** A kind of events: how its texts are made from the ledger, and rebuilt from the tables. */
export interface EventKind extends StoredEventKind {
  /** Secondary indexes needed to rebuild texts. */
  readonly indexes: readonly string[];
  /** Events of a block that the ledger knows. Absent: the derived table that names the kind provides them. */
  readonly ledgerEvents?: (applied: AppliedBlock) => LedgerEvents;
}
