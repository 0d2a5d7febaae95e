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
  /** Blocks that are done and blocks to come, as far as the source has them now. */
  readonly blocksTotal: number;
  /** Size of the raw blocks. */
  readonly bytes: number;
  /** Size of the blocks to come, estimated; null: unknown. */
  readonly bytesLeft: number | null;
  readonly inscriptions: number;
}

export interface IndexSummary {
  /** The indexed tip; null: nothing is indexed. */
  readonly height: Height | null;
  /** In display order. */
  readonly hash: BlockHashHex | null;
  /** Lowest height above which blocks were taken back (-1: all); null: none were taken back. */
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
   * One of its connections is held, a second one is used now and then, and three more build indexes at the end of a
   * load. They must have no statement timeout. The writer opens a connection of its own with the same settings.
   */
  readonly pool: pg.Pool;
  /** Aborted: the current write is finished, and the run ends early without an error. */
  readonly signal: AbortSignal;
  /**
   * The last height to apply; absent: a folder up to its tip, a node without end. Higher blocks that are already
   * indexed stay.
   */
  readonly until?: Height;
  /** Wait while another process holds the writer's lock, instead of `database_busy`. */
  readonly standby?: boolean;
  /** Run in the transaction of an undo. */
  readonly undoHooks?: readonly UndoHook[];
  /** The past of the chain as it is indexed now, for one undo deeper than `satsKeepBlocks`; absent: that is refused. */
  readonly openPast?: (() => PastChain) | undefined;
  /** Searches of this process, to which loading gives way; absent: this process serves no searches. */
  readonly demand?: SearchDemand;
  /** Learns whether blocks are being applied; absent: no other work waits for them. */
  readonly activity?: WriterActivity;
  /** Worker threads, or threads that others use too; absent: one per core. */
  readonly threads?: number | ParseThreads;
  /** The longest text, decoded, that is made searchable; absent: no limit. */
  readonly textMaxBytes?: number;
  /** The kinds of events that are written; absent: that of inscriptions, and those of the derived tables. */
  readonly eventKinds?: readonly EventKind[];
  /** Number of newest blocks that keep their event texts. */
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
  /** The known derived tables; absent: all of this program. */
  readonly derivedTables?: readonly DerivedTable[];
  /**
   * A folder on the disk of the database, if that is a disk of this machine: its free space is compared with the
   * need.
   */
  readonly diskFolder?: string;
  /**
   * How long temporary failures are retried in a row, without a block in between; absent: a minute for sources at
   * rest, where a person waits for the end of the run, and without limit for a node.
   */
  readonly retryBudgetMs?: number;
  /**
   * Retry once a minute what a person must fix at a node (it pruned blocks that are needed, repeatedly gives wrong
   * blocks, refuses our cookie): what is indexed is served meanwhile. Absent: the run ends with the error.
   */
  readonly waitsForPeople?: boolean;
  /** After each commit, and once before the first. */
  readonly onProgress?: (progress: IndexProgress) => void;
  readonly onCommit?: (committed: Committed) => void;
  /** The load is over, and the secondary indexes are built next. */
  readonly onIndexing?: () => void;
  /** Before blocks are taken back: their number and the tip that will be left. */
  readonly onUndo?: (depth: number, height: Height | -1) => void;
  /** Called whenever a node has no more blocks, and all indexes exist. */
  readonly onCaughtUp?: () => void;
  /** Called each time it begins to wait for the writer's lock. */
  readonly onStandby?: () => void;
  /** Called with every failure that is retried. */
  readonly onWaiting?: (problem: AppError, delayMs: number) => void;
  /** Called with every change of its reported status. */
  readonly onStatus?: (status: FollowerStatus) => void;
  /** The disk has less free space than the coming blocks will need. */
  readonly onDiskShort?: (need: DiskNeed) => void;
  /** Records work and waits of the stages of a sync. */
  readonly stages?: StageRecorder;
  readonly onStep?: (step: FollowStep, seconds: number) => void;
  /** Blocks that were fetched or parsed and wait to be applied, with the limit on their number. */
  readonly onQueue?: (waiting: number, limit: number) => void;
  /** Smaller bounds than the defaults, for tests. */
  readonly bounds?: Partial<
    BatchBounds & {
      readonly cacheEntries: number;
      readonly pollMs: number;
      readonly mendedEveryMs: number;
      /** A load begins with so many blocks to come, and has at most so many in a batch. */
      readonly load: { readonly blocksMin: number; readonly blocksMax: number };
    }
  >;
}
