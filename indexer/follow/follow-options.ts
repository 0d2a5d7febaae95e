import type pg from 'pg';
import type { Committed, WriterStep } from '#indexer/apply/block-writer.ts';
import type { UndoHook } from '#indexer/apply/undo.ts';
import type { DerivedTable } from '#indexer/derived/derived-table.ts';
import type { EventKind } from '#indexer/events/event-kind.ts';
import type { ParseStep } from '#indexer/workers/parse-pool.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { SearchDemand } from '#kernel/search-demand.ts';
import type { DiskNeed } from './disk-need.ts';
import type { BatchBounds } from './gather-batches.ts';
import type { WriterActivity } from './writer-activity.ts';

/** How far a run has come. */
export interface IndexProgress {
  readonly blocks: number;
  /** Those that are done and those to come, as far as the source has them now. */
  readonly blocksTotal: number;
  /** Of raw blocks. */
  readonly bytes: number;
  readonly inscriptions: number;
}

export interface IndexSummary {
  /** The indexed tip; null: nothing is indexed. */
  readonly height: number | null;
  /** As people write it. */
  readonly hash: string | null;
  /** Lowest height above which blocks were taken back (-1: all); null: none were. */
  readonly undoneAbove: number | null;
  readonly blocks: number;
  readonly bytes: number;
  readonly inscriptions: number;
  readonly seconds: number;
}

/** A phase of a block's way. */
export type FollowStep = ParseStep | WriterStep;

export interface FollowOptions {
  readonly source: BlockSource | LiveBlockSource;
  /**
   * Two of its connections are held, and a third one is used now and then. They must be free of a statement timeout.
   */
  readonly pool: pg.Pool;
  /** Aborted: what is being written is finished, and the run ends early without an error. */
  readonly signal: AbortSignal;
  /** The last height to apply; absent: a folder to its tip, a node for ever. Blocks above it that are indexed already stay. */
  readonly until?: number;
  /** Where another process holds the writer's lock, wait for it instead of `database_busy`. */
  readonly standby?: boolean;
  /** Run in the transaction of an undo. */
  readonly undoHooks?: readonly UndoHook[];
  /** Searches of this process, to which loading gives way; absent: nobody searches here. */
  readonly demand?: SearchDemand;
  /** Told of blocks that are on their way; absent: nobody waits for them. */
  readonly activity?: WriterActivity;
  /** Worker threads; absent: one a core. */
  readonly threads?: number;
  /** Longest text, decoded, that is made searchable; absent: every one. */
  readonly textMaxBytes?: number;
  /** The kinds of events that are written; absent: those that are registered. */
  readonly eventKinds?: readonly EventKind[];
  /** So many of the newest blocks keep their event texts. */
  readonly eventsKeepBlocks?: number;
  /** Index the owner of every output. */
  readonly indexAddresses?: boolean;
  /** The derived tables that there are; absent: all of this program. */
  readonly derivedTables?: readonly DerivedTable[];
  /** A folder on the disk of the database, where that is a disk of this machine: its room is compared with the need. */
  readonly diskFolder?: string;
  /**
   * How long failures that may pass are waited for, one after the other without a block between; absent: a minute for
   * sources at rest, whose runs somebody waits for, and without an end for a node.
   */
  readonly retryBudgetMs?: number;
  /**
   * What a person has to mend at a node (it pruned what is needed, gives wrong blocks again and again, refuses our cookie) is asked
   * for once a minute: what is indexed is served meanwhile. Absent: the run ends with the error.
   */
  readonly waitsForPeople?: boolean;
  /** After each commit, and once before the first. */
  readonly onProgress?: (progress: IndexProgress) => void;
  readonly onCommit?: (committed: Committed) => void;
  /** Before blocks are taken back: their number and the tip that will be left. */
  readonly onUndo?: (depth: number, height: number) => void;
  /** Once for each time that it waits for the writer's lock. */
  readonly onStandby?: () => void;
  /** With every failure that is waited for. */
  readonly onWaiting?: (problem: AppError, delayMs: number) => void;
  /** With every change of what it says of itself. */
  readonly onStatus?: (status: FollowerStatus) => void;
  /** The disk has less room than the blocks to come will take. */
  readonly onDiskShort?: (need: DiskNeed) => void;
  readonly onStep?: (step: FollowStep, seconds: number) => void;
  /** Blocks that were fetched or parsed and wait to be applied, beside the most that may. */
  readonly onQueue?: (waiting: number, limit: number) => void;
  /** Smaller bounds than the usual ones, for tests. */
  readonly bounds?: Partial<
    BatchBounds & { readonly cacheEntries: number; readonly pollMs: number; readonly mendedEveryMs: number }
  >;
}
