import type pg from 'pg';
import type { Committed, WriterStep } from '#indexer/apply/block-writer.ts';
import type { UndoHook } from '#indexer/apply/undo.ts';
import type { DerivedTable } from '#indexer/derived/derived-table.ts';
import type { EventKind } from '#indexer/events/event-kind.ts';
import type { ParseStep } from '#indexer/workers/parse-pool.ts';
import type { ParseThreads } from '#indexer/workers/parse-threads.ts';
import type { SearchDemand } from '#kernel/concurrency/search-demand.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { FollowerStatus } from '#kernel/contracts/follower-status.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import type { BlockHashHex } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { StageRecorder } from '#kernel/stages/stage-recorder.ts';
import type { DiskNeed } from './disk-need.ts';
import type { BatchBounds } from './gather-batches.ts';
import type { WriterActivity } from './writer-activity.ts';

/** The progress of a run. */
export interface IndexProgress {
  readonly blocks: number;
  /** Number of processed blocks plus blocks to come, as far as the source has them now. */
  readonly blocksTotal: number;
  /** Size of the raw blocks. */
  readonly bytes: number;
  /** Estimated size of the blocks to come. Null: unknown. */
  readonly bytesLeft: number | null;
  readonly inscriptions: number;
}

export interface IndexSummary {
  /** Height of the indexed tip. Null: nothing is indexed. */
  readonly height: Height | null;
  /** The hash in display order. */
  readonly hash: BlockHashHex | null;
  /** Lowest height above which blocks were taken back (-1: all). Null: no block was taken back. */
  readonly undoneAbove: number | null;
  readonly blocks: number;
  readonly bytes: number;
  readonly inscriptions: number;
  readonly seconds: number;
}

/** A phase of the processing of a block. */
export type FollowStep = ParseStep | WriterStep;

export interface FollowOptions {
  readonly source: BlockSource | LiveBlockSource;
  /**
   * Pool from which the run holds one connection, sometimes a second one, and three more to build indexes at the end of
   * a load. Its connections must have no statement timeout. The writer opens its own connection with the same settings.
   */
  readonly pool: pg.Pool;
  /** Ends the run early without an error, after the current write. */
  readonly signal: AbortSignal;
  /**
   * The last height to apply. Absent: a folder is applied up to its tip, a node without end. Higher blocks that are
   * already indexed are kept.
   */
  readonly until?: Height;
  /** Wait while another process holds the writer's lock, instead of throwing `database_busy`. */
  readonly standby?: boolean;
  /** Hooks that run in the transaction of an undo. */
  readonly undoHooks?: readonly UndoHook[];
  /**
   * Opens the past of the chain as it is indexed now. Needed for an undo deeper than `satsKeepBlocks`. Absent: such an
   * undo is refused.
   */
  readonly openPast?: (() => PastChain) | undefined;
  /** Searches of this process, which have precedence over loading. Absent: this process serves no searches. */
  readonly demand?: SearchDemand;
  /** Is told whether blocks are being applied. Absent: no other work waits for blocks. */
  readonly activity?: WriterActivity;
  /** Number of worker threads, or threads that others use too. Absent: one per core. */
  readonly threads?: number | ParseThreads;
  /** Maximum length in bytes of a decoded text that is made searchable. Absent: no limit. */
  readonly textMaxBytes?: number;
  /** The kinds of events that are written. Absent: inscriptions and the kinds of the derived tables. */
  readonly eventKinds?: readonly EventKind[];
  /** Number of newest blocks whose event texts are kept. */
  readonly eventsKeepBlocks?: number;
  /** Index the owner of every output. */
  readonly indexAddresses?: boolean;
  /** Index runes; absent: yes. */
  readonly indexRunes?: boolean;
  /** Index the sats of every output. */
  readonly indexSats?: boolean;
  /** Index sales of inscriptions; absent: yes. */
  readonly indexSales?: boolean;
  /** Number of newest blocks that an index of sats can take back; absent: all. */
  readonly satsKeepBlocks?: number;
  /** The known derived tables. Absent: all tables of this program. */
  readonly derivedTables?: readonly DerivedTable[];
  /**
   * A folder on the disk of the database, if the disk is on this machine. Its free space is compared with the needed
   * space.
   */
  readonly diskFolder?: string;
  /**
   * How long temporary failures are retried without a new block in between. Absent: a minute for a folder, because a
   * person waits for the end of the run, and without limit for a node.
   */
  readonly retryBudgetMs?: number;
  /**
   * Retry, once a minute, a node's faults that a person must fix: it pruned needed blocks, repeatedly gives wrong
   * blocks, or refuses our cookie. Indexed data is served meanwhile. Absent: the run ends with the error.
   */
  readonly waitsForPeople?: boolean;
  /** Called after each commit, and once before the first commit. */
  readonly onProgress?: (progress: IndexProgress) => void;
  readonly onCommit?: (committed: Committed) => void;
  /** Called when all blocks of a load are applied, before the secondary indexes are built. */
  readonly onIndexing?: () => void;
  /**
   * Called before blocks are undone, with the number of blocks and the height of the new tip (-1 if no block remains).
   */
  readonly onUndo?: (depth: number, height: Height | -1) => void;
  /** Called whenever a node has no more blocks and all indexes exist. */
  readonly onCaughtUp?: () => void;
  /** Called whenever the run begins to wait for the writer's lock. */
  readonly onStandby?: () => void;
  /** Called with every failure that is retried. */
  readonly onWaiting?: (problem: AppError, delayMs: number) => void;
  /** Called with every change of the reported status. */
  readonly onStatus?: (status: FollowerStatus) => void;
  /** Called if the disk has less free space than the coming blocks will need. */
  readonly onDiskShort?: (need: DiskNeed) => void;
  /** Records the work and the waits of each stage. */
  readonly stages?: StageRecorder;
  readonly onStep?: (step: FollowStep, seconds: number) => void;
  /** Called with the number of fetched or parsed blocks that wait to be applied, and its limit. */
  readonly onQueue?: (waiting: number, limit: number) => void;
  /** Smaller bounds than the defaults; used by tests. */
  readonly bounds?: Partial<
    BatchBounds & {
      readonly cacheEntries: number;
      readonly pollMs: number;
      readonly mendedEveryMs: number;
      /**
       * `blocksMin`: minimum number of blocks to come with which a load begins. `blocksMax`: maximum number of blocks
       * in a batch.
       */
      readonly load: { readonly blocksMin: number; readonly blocksMax: number };
    }
  >;
}
