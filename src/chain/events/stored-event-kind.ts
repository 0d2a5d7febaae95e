import type { ClientBase, Pool } from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import type { EventText } from '#kernel/events/event-text-writer.ts';
import type { ParsedEvent } from '#kernel/events/parse-event-text.ts';
import type { NetworkName, NetworkParameters } from '#kernel/primitives/network.ts';

/** The canonical text of a block, made again from the tables. */
export interface BlockEventText extends EventText {
  readonly ref: BlockRef;
  /** Events of the kind. */
  readonly count: number;
  /** All that the block did is known: it has a place in the chain of hashes, where it stands high enough for that. */
  readonly isKnown: boolean;
}

/** Heights of blocks, the last one included. */
export interface TextRange {
  readonly from: number;
  readonly to: number;
  /** Give the texts, not their hashes alone. */
  readonly keep: boolean;
}

/** A kind of events, as far as what is stored of it is read. */
export interface StoredEventKind extends EventKindIdentity {
  /** The height with which its chain of hashes begins. Blocks below have no events of it. */
  readonly firstHeight: (network: NetworkParameters) => number;
  /**
   * Whether a block stands at a height and everything that it did of this kind is known. False above the height that a
   * catch-up pass of the kind's tables has reached.
   */
  readonly isKnownAt: (client: ClientBase, height: number) => Promise<boolean>;
  /**
   * The texts of blocks, ascending: byte for byte what the writer hashed. In a transaction, whose planner settings it may
   * change. Its memory is that of the events.
   */
  readonly readTexts: (
    client: ClientBase,
    network: NetworkName,
    range: TextRange,
  ) => Promise<BlockEventText[]>;
  /** Why texts cannot be made again now, for people, and what is to be waited for; null: they can. */
  readonly whyNotReadable: (client: ClientBase | Pool) => Promise<string | null>;
  /** Reads a line of a text, after its first one. Throws a RangeError where it is not of this version. */
  readonly parseLine: (line: string) => ParsedEvent;
}
