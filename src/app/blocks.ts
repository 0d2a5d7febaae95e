import { type IndexSummary, indexChain } from '#indexer/follow/index-chain.ts';
import { openFolderSource } from '#indexer/source/folder-source.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { forgetAbove } from '#search/forget.ts';
import { createSealer } from '#search/seal.ts';
import type { CommandContext } from '#src/commands/command.ts';
import { createProgress } from '#src/commands/progress.ts';
import type { Database } from './database.ts';

/** The transaction of a batch, or the build of an index that cannot be given up half way. */
const indexingStopMs = 60_000;

/** Opens a folder of blocks for the life of the process. */
export async function openBlocks(
  { lifecycle }: CommandContext,
  dir: string,
  tip: string | undefined,
): Promise<BlockSource> {
  const source = await openFolderSource(dir, tip === undefined ? {} : { tip });
  lifecycle.add('block source', () => source.close());
  return source;
}

export interface IndexBlocksOptions {
  readonly source: BlockSource;
  /** The last height; absent: the source's tip. */
  readonly until?: number | undefined;
  /** Searches are answered meanwhile: what comes in is sealed in the background too. */
  readonly isServing: boolean;
}

/** Brings the database to the source's tip, or to `until`, with progress on stderr, and seals what was added for searches. */
export async function indexBlocks(
  { config, lifecycle, logger }: CommandContext,
  database: Database,
  { source, until, isServing }: IndexBlocksOptions,
): Promise<IndexSummary> {
  const pool = createPool(database.url, {
    applicationName: 'satscribe indexer',
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('indexer connections', () => pool.end());
  const progress = createProgress(
    process.stderr,
    () => performance.now(),
    (fields) => logger.info(fields, 'indexing'),
  );
  const sealerLog = logger.child({ part: 'sealer' });
  const sealer = createSealer({
    pool,
    onError: (error) => sealerLog.error({ err: error }, 'sealing failed'),
  });
  lifecycle.add('sealer', () => sealer.close());
  if (isServing) {
    lifecycle
      .run('sealing', (signal) => sealer.run(signal))
      .catch((error: unknown) => sealerLog.error({ err: error }, 'sealing ended'));
  }
  return lifecycle.run(
    'indexing',
    async (signal) => {
      const summary = await indexChain({
        source,
        pool,
        signal,
        ...(until === undefined ? {} : { until }),
        onProgress: (state) => progress.update(state),
        undoHooks: [forgetAbove],
        textMaxBytes: config.searchTextMaxBytes,
      }).finally(() => progress.finish());
      signal.throwIfAborted();
      await sealer.sealPending(signal);
      signal.throwIfAborted();
      return summary;
    },
    indexingStopMs,
  );
}
