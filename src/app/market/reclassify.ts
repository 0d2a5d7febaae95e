import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { countSales, type RemadeSales, readRemadeSales } from '#chain/sales/remade-sales.queries.ts';
import { type CatchUpOptions, catchUp } from '#indexer/catch-up/catch-up.ts';
import { remakeTable } from '#indexer/derived/derived-state.ts';
import { derivedTables } from '#indexer/derived/derived-tables.ts';
import { sales } from '#indexer/derived/sales/sales.ts';
import { WriterActivity } from '#indexer/follow/writer-activity.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openDatabase, tipOf } from '#src/app/database/database.ts';
import { createProgress } from '#src/app/reports/progress.ts';
import { openSource } from '#src/app/sources/source.ts';

/** How long the pass may take to stop, in ms. It finishes writing the current batch first. */
const stopMs = 60_000;
/**
 * How often the progress is read, in ms. The pass may run in a service, so the progress comes from the database. Each
 * read scans the rows of blocks.
 */
const lookEveryMs = 2000;

export interface Reclassified {
  /** The version of the rules. */
  readonly rules: number;
  /** Whether this run resumed an interrupted run. */
  readonly resumed: boolean;
  readonly blocks: number;
  readonly height: Height | null;
  /** Number of sales and accepted offers in the whole chain. */
  readonly sales: number;
}

/**
 * Rebuilds the sales of all indexed blocks by the rules of this program, with progress on stderr. It can run beside a
 * service that indexes. Then the process that holds the lock for this work does the work. The next run, or `satscribe
 * serve`, resumes an interrupted run.
 *
 * Throws `nothing_indexed`, `config_invalid` if sales are not indexed, `database_newer`, and the reason why blocks
 * cannot be read.
 */
export async function reclassifySales(
  context: CommandContext,
  tip: string | undefined,
): Promise<Reclassified> {
  const { config, lifecycle, logger } = context;
  const database = await openDatabase(context, 'existing');
  if ((await tipOf(database)) === null) {
    throw new AppError('nothing_indexed', 'There is nothing to reclassify, because no block is indexed.');
  }
  if (!config.indexSales) throw notIndexed();
  const { source } = await openSource(context, database, { tip, away: 'throw' });
  const pool = createPool(database.url, {
    applicationName: 'satscribe reclassify',
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('reclassify connections', () => pool.end());
  return lifecycle.run(
    'reclassify',
    async (signal) => {
      const start = await begin(pool);
      if (start === 'absent') throw notIndexed();
      await remake(context, { source, pool, signal, textMaxBytes: config.searchTextMaxBytes });
      signal.throwIfAborted();
      const { rules, blocksTotal: blocks } = await readStanding(pool);
      const { sales: sold, height } = await countSales(pool);
      return { rules, resumed: start === 'resumed', blocks, height, sales: sold };
    },
    stopMs,
  );
}

function notIndexed(): AppError {
  return new AppError('config_invalid', 'Sales are not indexed, because INDEX_SALES is false.');
}

async function begin(pool: pg.Pool): ReturnType<typeof remakeTable> {
  const client = await pool.connect();
  try {
    return await withTransaction(client, (tx) => remakeTable(tx, derivedTables, sales));
  } finally {
    client.release();
  }
}

type Pass = Pick<CatchUpOptions, 'source' | 'pool' | 'signal' | 'textMaxBytes'>;

/**
 * Runs a catch-up pass, or waits for the pass of a service, until the table is complete. Throws the reason if it cannot
 * be completed.
 */
async function remake({ logger }: Pick<CommandContext, 'logger'>, pass: Pass): Promise<void> {
  const done = new AbortController();
  const signal = AbortSignal.any([pass.signal, done.signal]);
  const failures: AppError[] = [];
  const filled = catchUp({
    ...pass,
    signal,
    settings: { indexAddresses: false, indexRunes: false, indexSats: false, indexSales: true },
    writer: new WriterActivity(),
    endsCaughtUp: true,
    onProblem: (problem, delayMs) => {
      if (delayMs === null) failures.push(problem);
      logger.warn({ code: problem.code, reason: problem.message }, 'sales wait');
    },
  });
  const watched = watch(pass.pool, logger, signal);
  try {
    await Promise.race([filled, watched]);
  } finally {
    done.abort();
    await Promise.allSettled([filled, watched]);
  }
  const [failure] = failures;
  if (failure !== undefined) throw failure;
}

/** Shows the progress until the table is complete or the signal is aborted. */
async function watch(pool: pg.Pool, logger: CommandContext['logger'], signal: AbortSignal): Promise<void> {
  const progress = createProgress(
    process.stderr,
    () => performance.now(),
    (fields) => logger.info(fields, 'reclassifying'),
  );
  const before = await readStanding(pool);
  for (let standing = before; ; standing = await readStanding(pool)) {
    const { isRemade, blocks, blocksTotal, bytes, bytesTotal, inscriptions } = standing;
    const done = isRemade ? { blocks, bytes } : { blocks: blocksTotal, bytes: bytesTotal };
    progress.update({
      blocks: done.blocks,
      blocksTotal,
      bytes: Math.max(0, done.bytes - before.bytes),
      bytesLeft: bytesTotal - done.bytes,
      inscriptions,
    });
    if (!isRemade || signal.aborted) break;
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
  progress.finish();
}

async function readStanding(pool: pg.Pool): Promise<RemadeSales> {
  const standing = await readRemadeSales(pool);
  if (standing === null) throw notIndexed();
  return standing;
}
