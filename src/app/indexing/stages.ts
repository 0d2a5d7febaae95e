import type pg from 'pg';
import { hasEmbeddedDatabase } from '#config/config.ts';
import { partOf, type StagePart, workerMessages } from '#kernel/stages/stage-list.ts';
import { StageRecorder } from '#kernel/stages/stage-recorder.ts';
import { stageTable } from '#kernel/stages/stage-table.ts';
import { TraceFile } from '#kernel/stages/trace-file.ts';
import { watchStatements } from '#kernel/stages/watch-statements.ts';
import type { CommandContext } from '#src/app/command-context.ts';

export interface StagesReport {
  readonly stages: StageRecorder;
  /** Ends the trace and shows the totals. Call it when the sync is complete. Later calls do nothing. */
  readonly end: () => void;
}

/**
 * Creates the recorder of a sync. With `--trace FILE` it records all work into that file, including the statements of
 * connections that `pool` opens later. Call it before the pool is used. Throws `output_failed`.
 */
export function recordStages(
  { config, flags, lifecycle, logger }: CommandContext,
  pool: pg.Pool,
): StagesReport {
  const path = flags['trace'];
  if (path === undefined) return { stages: new StageRecorder(), end: () => undefined };
  const log = logger.child({ part: 'trace' });
  const stages = new StageRecorder(
    TraceFile.open(path, (error) =>
      log.error({ err: error, path }, 'the recording of the trace ended early'),
    ),
  );
  watchStatements(pool, stages, hasEmbeddedDatabase(config));
  const end = (): void => {
    const sums = stages.end();
    if (sums === null) return;
    if (process.stderr.isTTY) process.stderr.write(`\n${stageTable(sums)}\n`);
    else log.info({ path, ...sums }, 'stages of the sync');
  };
  lifecycle.add('trace', end);
  return { stages, end };
}

const bounds: Partial<Record<StagePart, string>> = {
  source: 'fetch',
  'parser threads': 'parse',
  'main thread': 'ledger',
};

/**
 * Returns the group of a stage, named after the part that an operator can change: the source, the threads, or the disk
 * of the database.
 */
export function boundOf(stage: string): string {
  if (stage === 'searches') return 'searches';
  if (stage === workerMessages) return 'parse';
  const part = partOf(stage);
  return (part === null ? undefined : bounds[part]) ?? 'database';
}
