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
  /** The number of events of the kind. `null` if unknown; the text then has no events. */
  readonly count: number | null;
  /**
   * True if all effects of the block are known. The block then belongs to the chain of hashes, if it is not below the
   * first height of that chain.
   */
  readonly isKnown: boolean;
}

/** Heights of blocks, both included. */
export interface TextRange {
  readonly from: Height;
  readonly to: Height;
  /** Whether to return the texts, and not only their hashes. */
  readonly keep: boolean;
}

/** A kind of events, with the functions that read its stored data. */
export interface StoredEventKind extends EventKindIdentity {
  /** The first height of the kind's chain of hashes. Lower blocks have no events of this kind. */
  readonly firstHeight: (network: NetworkParameters) => Height;
  /**
   * Whether there is a block at a height and all its events of this kind are known. False for heights that a catch-up
   * pass of the kind's tables has not reached yet.
   */
  readonly isKnownAt: (client: ClientBase, height: Height) => Promise<boolean>;
  /**
   * Reads the texts of blocks, ascending. They equal, byte for byte, the texts that the writer hashed. Runs in a
   * transaction and may change its planner settings. The needed memory is that of the events.
   */
  readonly readTexts: (
    client: ClientBase,
    network: NetworkName,
    range: TextRange,
  ) => Promise<BlockEventText[]>;
  /**
   * Returns the error if the settings omit the kind. `null` or absent if the settings include the kind, or if
   * `whyNotReadable` gives the reason.
   */
  readonly leftOut?: (client: ClientBase | Pool) => Promise<AppError | null>;
  /** Returns in words why texts cannot be rebuilt now, and what must happen first. `null` if they can be rebuilt. */
  readonly whyNotReadable: (client: ClientBase | Pool) => Promise<string | null>;
  /** Parses a line of a text, except the first line. Throws a RangeError if the line has another version. */
  readonly parseLine: (line: string) => ParsedEvent;
}
