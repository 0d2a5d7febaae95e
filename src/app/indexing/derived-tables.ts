import type { Config } from '#config/config.ts';
import { type CatchUpOptions, catchUp } from '#indexer/catch-up/catch-up.ts';
import type { DerivedSettings } from '#indexer/derived/derived-table.ts';
import { levelOfFailure } from '#kernel/errors/node-away.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import type { OperationsParts } from '#src/app/reports/operations.ts';

/** How often progress is logged, in ms. A pass over the whole chain takes hours. */
const progressEveryMs = 30_000;

export interface DerivedTablesParts {
  readonly source: CatchUpOptions['source'];
  readonly pool: CatchUpOptions['pool'];
  readonly activity: CatchUpOptions['writer'];
  /** `null` in a command that ends once all work is done. */
  readonly operations: OperationsParts | null;
}

/** Returns the derived tables that the settings request. */
export function wantedTables({ indexAddresses, indexRunes, indexSales, indexSats }: Config): DerivedSettings {
  return { indexAddresses, indexRunes, indexSales, indexSats };
}

/** Fills derived tables for blocks that are already indexed, and logs the progress. */
export function makeDerivedTables(
  { config, lifecycle, logger }: CommandContext,
  { source, pool, activity, operations }: DerivedTablesParts,
): Promise<void> {
  return lifecycle.run('catching up', (signal) =>
    catchUp({
      source,
      pool,
      signal,
      settings: wantedTables(config),
      writer: activity,
      endsCaughtUp: operations === null,
      ...(operations === null ? {} : { demand: operations.demand }),
      textMaxBytes: config.searchTextMaxBytes,
      ...catchUpReports(logger),
    }),
  );
}

/** Options that log the progress and the problems of a catch-up pass. */
function catchUpReports(logger: Logger): Pick<CatchUpOptions, 'onProgress' | 'onCaughtUp' | 'onProblem'> {
  const log = logger.child({ part: 'catch-up' });
  const repeats = new Repeats();
  let toldAt = Number.NEGATIVE_INFINITY;
  return {
    onProgress: ({ tables, height }) => {
      repeats.reset();
      if (performance.now() - toldAt < progressEveryMs) return;
      toldAt = performance.now();
      log.info({ tables, height }, 'derived tables are being filled with blocks that were indexed earlier');
    },
    onCaughtUp: (tables) => log.info({ tables }, 'derived tables are complete'),
    onProblem: (problem, delayMs) => {
      const { code, message } = problem;
      if (!repeats.isDue(code)) return;
      const text = delayMs === null ? 'derived tables cannot be filled' : 'derived tables wait';
      const said = { code, reason: message, delayMs: delayMs === null ? null : Math.round(delayMs) };
      log[levelOfFailure(problem)](said, text);
    },
  };
}
