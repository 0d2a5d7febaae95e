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
  /** All effects of the block are known: it belongs to the chain of hashes, if it is high enough. */
  readonly isKnown: boolean;
}

/** Heights of blocks, both included. */
export interface TextRange {
  readonly from: Height;
  readonly to: Height;
  /** Return the texts, not only their hashes. */
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
   * The texts of blocks, ascending: byte for byte as the writer hashed them. Runs in a transaction, whose planner
   * settings it may change. Its memory is that of the events.
   */
  readonly readTexts: (
    client: ClientBase,
    network: NetworkName,
    range: TextRange,
  ) => Promise<BlockEventText[]>;
  /** The error if the settings leave the kind out. Null, or absent: they do not, or `whyNotReadable` has the reason. */
  readonly leftOut?: (client: ClientBase | Pool) => Promise<AppError | null>;
  /** Why texts cannot be rebuilt now, and what to wait for, in words; null: they can. */
  readonly whyNotReadable: (client: ClientBase | Pool) => Promise<string | null>;
  /** Parses a line of a text, after its first one. Throws a RangeError if it is not of this version. */
  readonly parseLine: (line: string) => ParsedEvent;
}
