import { type Config, hasEmbeddedDatabase } from '#config/config.ts';
import { follow } from '#indexer/follow/follow.ts';
import type { FollowOptions, IndexSummary } from '#indexer/follow/follow-options.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { BitcoinNode } from '#node/bitcoin-node.ts';
import { forgetAbove } from '#search/segments/forget-segments.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { Database } from '#src/app/database/database.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';
import { makeDerivedTables, wantedTables } from './derived-tables.ts';
import { followerReports } from './follower-reports.ts';
import { mempoolFollower } from './mempool.ts';
import { pastOfNode } from './past.ts';
import { type Sealing, startSealing } from './sealing.ts';
import { boundOf, recordStages } from './stages.ts';

/**
 * How long indexing may take to stop, in ms. It must finish the transaction of a batch, or the build of a database
 * index, which cannot be interrupted.
 */
const indexingStopMs = 60_000;

/**
 * Maximum number of connections. One each is for the reader, the status, the sealer and the mempool, three build
 * indexes at the end of a load, and the rest are for the statements of sealing. The writer and the catch-up pass have
 * their own connections.
 */
const connectionsMax = 13;

export interface IndexBlocksOptions {
  readonly source: BlockSource | LiveBlockSource;
  /** The last height to index. If absent, a folder is indexed up to its tip, and a node is followed without end. */
  readonly until?: Height | undefined;
  /**
   * Given in a process that serves. Such a process answers searches while it indexes, and waits while another process
   * indexes. `null` in other processes.
   */
  readonly operations: OperationsParts | null;
  /**
   * The node whose blocks are indexed. A process that serves also follows the node's mempool. `null` if the source is a
   * folder.
   */
  readonly node: BitcoinNode | null;
}

/**
 * Indexes blocks up to the source's tip or to `until`. If the source is a node, keeps the index at the tip. Reports
 * progress on stderr, and seals new inscriptions for searches.
 */
export async function indexBlocks(
  context: CommandContext,
  database: Database,
  { source, until, operations, node }: IndexBlocksOptions,
): Promise<IndexSummary> {
  const { config, lifecycle, logger } = context;
  const pool = createPool(database.url, {
    max: connectionsMax,
    applicationName: 'satscribe indexer',
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  const { stages, end } = recordStages(context, pool);
  lifecycle.add('indexer connections', () => pool.end());
  operations?.watchPool('indexer', pool);
  const demand = operations === null ? {} : { demand: operations.demand };
  const sealing = startSealing(context, { pool, stages, ...demand });
  const activity = new WriterActivity();
  const catchUp = (): Promise<void> => makeDerivedTables(context, { source, pool, activity, operations });
  // a process that serves fills derived tables in parallel with the writer; a command fills them after the writer
  if (operations !== null) catchUp().catch((error: unknown) => lifecycle.fail(error));
  const mempool =
    node === null || operations === null ? null : mempoolFollower(context, { node, pool, writer: activity });
  const { finish, ...reports } = followerReports(context, operations, mempool, () => stages.bound(boundOf));
  return lifecycle.run(
    'indexing',
    async (signal) => {
      const summary = await follow({
        ...settingsOf(config),
        ...(operations === null ? commandOptions(sealing, signal) : servingOptions(end)),
        source,
        pool,
        signal,
        ...reports,
        stages,
        ...(until === undefined ? {} : { until }),
        undoHooks: [forgetAbove],
        openPast: node === null ? undefined : () => pastOfNode({ pool, node, blocks: source, logger }),
        ...demand,
        activity,
      }).finally(finish);
      signal.throwIfAborted();
      if (operations === null) {
        await catchUp();
        await sealing.stop();
      }
      await sealing.sealRest(signal);
      signal.throwIfAborted();
      end();
      return summary;
    },
    indexingStopMs,
  );
}

/**
 * Options of a command, which ends after its load. Sealing reads by primary keys only, so it can run while the indexes
 * are built.
 */
const commandOptions = (sealing: Sealing, signal: AbortSignal) =>
  ({
    standby: false,
    waitsForPeople: false,
    onIndexing: () => sealing.sealBeside(signal),
  }) satisfies Partial<FollowOptions>;

/**
 * Options of a process that serves. It waits until no other process writes, and it waits for problems that a person
 * must fix.
 */
const servingOptions = (onCaughtUp: () => void) =>
  ({ standby: true, waitsForPeople: true, onCaughtUp }) satisfies Partial<FollowOptions>;

/** Settings that decide which data is written. */
function settingsOf(config: Config) {
  return {
    textMaxBytes: config.searchTextMaxBytes,
    eventsKeepBlocks: config.eventsKeepBlocks,
    ...wantedTables(config),
    satsKeepBlocks: config.satsKeepBlocks,
    ...testBounds(config.loadBatchBlocks),
    ...(hasEmbeddedDatabase(config) ? { diskFolder: config.dataDir } : {}),
  } satisfies Partial<FollowOptions>;
}

/** Makes batches small, so that a test gets many of them. */
function testBounds(batchBlocks: number | undefined): Pick<FollowOptions, 'bounds'> {
  if (batchBlocks === undefined) return {};
  return { bounds: { load: { blocksMin: 4 * batchBlocks, blocksMax: batchBlocks } } };
}
