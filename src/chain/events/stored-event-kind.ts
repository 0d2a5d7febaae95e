import type { ClientBase, Pool } from 'pg';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { EventKindIdentity } from '#kernel/events/event-kind.ts';
import type { EventText } from '#kernel/events/event-text-writer.ts';
import type { ParsedEvent } from '#kernel/events/parse-event-text.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName, NetworkParameters } from '#kernel/primitives/network.ts';

/** The canonical text of a block, rebuilt from the tables. */
export interface BlockEventText extends EventText {
  readonly ref: BlockRef;
  /** The number of events of the kind. Null: unknown, and the text has no events. */
  readonly count: number | null;
  /** True if all effects of the block are known. It then belongs to the chain of hashes, if it is high enough. */
  readonly isKnown: boolean;
}

/** Heights of blocks, both included. */
export interface TextRange {
  readonly from: Height;
  readonly to: Height;
  /** True: return the texts, not only their hashes. */
  readonly keep: boolean;
}

/** A kind of events, with the functions that read its stored data. */
export interface StoredEventKind extends EventKindIdentity {
  /** The first height of its chain of hashes. Lower blocks have no events of it. */
  readonly firstHeight: (network: NetworkParameters) => Height;
  /**
   * Whether there is a block at a height and all its events of this kind are known. False above the height that a
   * catch-up pass of the kind's tables has reached.
   */
  readonly isKnownAt: (client: ClientBase, height: Height) => Promise<boolean>;
  /**
   * The texts of blocks, ascending. They equal, byte for byte, what the writer hashed. Runs in a transaction and may
   * change its planner settings. Memory: that of the events.
   */
  readonly readTexts: (
    client: ClientBase,
    network: NetworkName,
    range: TextRange,
  ) => Promise<BlockEventText[]>;
  /**
   * The error if the settings omit the kind. Null or absent: the settings include it, or `whyNotReadable` has the
   * reason.
   */
  readonly leftOut?: (client: ClientBase | Pool) => Promise<AppError | null>;
  /** Why texts cannot be rebuilt now, and what to wait for, in words. Null: they can be rebuilt. */
  readonly whyNotReadable: (client: ClientBase | Pool) => Promise<string | null>;
  /** Parses any line of a text except the first. Throws a RangeError if the line is not of this version. */
  readonly parseLine: (line: string) => ParsedEvent;
}
