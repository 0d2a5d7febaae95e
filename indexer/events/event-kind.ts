import type { StoredEventKind } from '#chain/events/stored-event-kind.ts';
import type { HeldInscriptions, LedgerBlock } from '#indexer/ledger/ledger-block.ts';
import type { ParsedBlock } from '#indexer/workers/parse-pool.ts';
import type { EventTextWriter } from '#kernel/events/event-text-writer.ts';

/** A block as the ledger left it. */
export interface AppliedBlock {
  readonly block: Pick<ParsedBlock, 'ref' | 'columns' | 'bytes' | 'hasSpent'>;
  readonly ledger: LedgerBlock;
  readonly held: HeldInscriptions;
  /** All that it did to inscriptions is known: it is anchored, and the block that follows it too. */
  readonly isKnown: boolean;
}

/** What a block did, of one kind. */
export interface LedgerEvents {
  readonly count: number;
  /** All that it did of this kind is known: it has a place in the kind's chain of hashes. */
  readonly isKnown: boolean;
  /** Writes a line for each event, in the order of their indexes. The first line, which names the block, is there. */
  readonly write: (out: EventTextWriter) => void;
}

/** All there is to say of a kind of events: how its texts are made from the ledger, and made again from the tables. */
export interface EventKind extends StoredEventKind {
  /** Secondary indexes without which texts cannot be made again. */
  readonly indexes: readonly string[];
  /**
   * What a block did, of this kind. Null: the writer does not keep the kind's tables yet, because a catch-up pass fills
   * them; their texts and hashes are completed behind it.
   */
  readonly ledgerEvents: (applied: AppliedBlock) => LedgerEvents | null;
}
