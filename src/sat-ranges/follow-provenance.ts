import type pg from 'pg';
import { outputsToTrace, putProvenance } from '#chain/sats/provenance.store.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { workUnderLock } from '#kernel/pg/work-under-lock.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { pause, type RetryPlace } from '#kernel/retry.ts';
import { type MadeOutputSats, madeOutputName } from '#kernel/satributes/provenance.ts';
import type { MadeOutput } from '#kernel/satributes/satribute.ts';
import { traceMadeOutput } from './trace-made-output.ts';
import type { TraceSource } from './trace-source.ts';

/**
 * How often the follower looks for outputs to trace, in ms. Each search reads only a small table. Outputs become
 * settled only with a block, which comes every ten minutes.
 */
const lookEveryMs = 5_000;
/**
 * How long to wait after a result that could not be stored, in ms. A result cannot be stored if index and node had
 * different blocks.
 */
const againMs = 600_000;

export interface FollowProvenanceOptions extends Pick<RetryPlace, 'hasCookieFile'> {
  /** Address of the database. */
  readonly url: string;
  /** Opens a new source for each round. The memory of a source is needed only for some minutes. */
  readonly openSource: () => TraceSource;
  /** The outputs that define satributes. */
  readonly outputs: readonly MadeOutput[];
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/**
 * Traces the outputs that define satributes until the signal is aborted. The outputs are traced one after another, as
 * soon as they are settled. Only one process per database does this. An interrupted walk starts again. Throws failures
 * that are not retried.
 */
export async function followProvenance(options: FollowProvenanceOptions): Promise<void> {
  const { url, signal, log, hasCookieFile } = options;
  const place = { url, signal, log, hasCookieFile, lock: 'provenance' } as const;
  await workUnderLock(
    { ...place, applicationName: 'satscribe provenance', what: 'outputs of satributes' },
    (client) => follow(client, options),
  );
}

async function follow(client: pg.Client, options: FollowProvenanceOptions): Promise<void> {
  const { outputs, signal } = options;
  while (!signal.aborted) {
    const due = await outputsToTrace(client, outputs);
    const areNoted = due.length === 0 || (await traceAll(client, due, options));
    await pause(areNoted ? lookEveryMs : againMs, signal);
  }
}

/** Traces all outputs. Returns whether all results could be stored. */
async function traceAll(
  client: pg.Client,
  due: readonly MadeOutput[],
  { openSource, signal, log }: FollowProvenanceOptions,
): Promise<boolean> {
  const source = openSource();
  let areNoted = true;
  for (const output of due) {
    const name = { output: madeOutputName(output) };
    log.info(name, 'tracing back an output that defines a satribute');
    const found = await traceOne(source, output, signal);
    if (!(await putProvenance(client, output, found))) {
      areNoted = false;
      log.warn(
        name,
        'the index and the node have different blocks; the sats of the output are traced again later',
      );
    } else if (found.kind === 'found')
      log.info({ ...name, ranges: found.ranges.length }, 'the sats of the output are known');
    else
      log.warn(
        { ...name, reason: found.reason },
        'the sats of the output cannot be traced, so the satribute is unknown',
      );
  }
  return areNoted;
}

const wrongAnswers: ReadonlySet<string> = new Set(['node_answer_invalid', 'spent_outputs_mismatch']);

/**
 * Traces one output. If the answer about this output is wrong, it is returned as missing, so that the other outputs are
 * still traced.
 */
async function traceOne(
  source: TraceSource,
  output: MadeOutput,
  signal: AbortSignal,
): Promise<MadeOutputSats> {
  try {
    return await traceMadeOutput(source, output, signal);
  } catch (error) {
    if (!(error instanceof AppError && wrongAnswers.has(error.code))) throw error;
    return { kind: 'missing', reason: error.message };
  }
}
