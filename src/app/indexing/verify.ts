import { verifyChain } from '#indexer/verify/verify-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { openDatabase } from '#src/app/database/database.ts';
import { createProgress } from '#src/app/reports/progress.ts';
import { openSource } from '#src/app/sources/source.ts';

/** Maximum number of printed differences. They are enough to see the fault; more would repeat it. */
const differencesMax = 20;

export interface VerifyRange {
  readonly from: Height | undefined;
  readonly to: Height | undefined;
  /** Compare the index with the chain of the folder that ends with this block. */
  readonly tip: string | undefined;
}

/**
 * Compares the index with its source, with progress on stderr, and prints the differences and a verdict. Throws
 * `index_differs` if they differ.
 */
export async function verifyIndexed(context: CommandContext, { from, to, tip }: VerifyRange): Promise<void> {
  const { config, lifecycle, logger, print } = context;
  const database = await openDatabase(context, 'existing');
  const { source } = await openSource(context, database, { tip, away: 'throw' });
  const pool = createPool(database.url, {
    applicationName: 'satscribe verify',
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('verify connections', () => pool.end());
  const progress = createProgress(
    process.stderr,
    () => performance.now(),
    (fields) => logger.info(fields, 'verifying'),
  );
  const verified = await lifecycle.run('verify', (signal) =>
    verifyChain({
      source,
      pool,
      signal,
      differencesMax,
      textMaxBytes: config.searchTextMaxBytes,
      ...(from === undefined ? {} : { from }),
      ...(to === undefined ? {} : { to }),
      onProgress: (state) => progress.update(state),
    }).finally(() => progress.finish()),
  );
  const { differences, blocks, inscriptions } = verified;
  for (const difference of differences.slice(0, differencesMax)) {
    await print(`${JSON.stringify(difference)}\n`);
  }
  const range = { from: verified.from, to: verified.to, blocks, inscriptions };
  const verdict = differences.length === 0 ? 'equal' : 'different';
  await print(`${JSON.stringify({ verdict, ...range })}\n`);
  if (differences.length === 0) return;
  const message = `The index differs from ${source.name}. The differences are on stdout.`;
  throw new AppError('index_differs', message, range);
}
