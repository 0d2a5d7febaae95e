import { rollback } from '#indexer/follow/rollback.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { createPool } from '#kernel/pg/pool.ts';
import { type BlockHashHex, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { forgetAbove } from '#search/segments/forget-segments.ts';
import type { CommandContext } from './command-context.ts';
import { isAnythingIndexed, networkOf, openDatabase } from './database.ts';

/** The undo of the current block is finished before the end. */
const rollbackStopMs = 60_000;

export interface RolledBack {
  readonly blocks: number;
  /** The remaining tip; null: nothing is left. */
  readonly height: Height | null;
  readonly hash: BlockHashHex | null;
}

/** Undoes all blocks above a height of the database of the settings. */
export async function rollbackTo(context: CommandContext, height: Height): Promise<RolledBack> {
  const { lifecycle, logger } = context;
  const database = await openDatabase(context, 'existing');
  const network = await networkOf(database);
  if (network === null || !(await isAnythingIndexed(database))) {
    throw new AppError('nothing_indexed', 'There is nothing to take back: no block is indexed.');
  }
  const pool = createPool(database.url, {
    applicationName: 'satscribe rollback',
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('rollback connections', () => pool.end());
  const { blocks, tip } = await lifecycle.run(
    'rollback',
    (signal) =>
      rollback({
        pool,
        network,
        height,
        signal,
        undoHooks: [forgetAbove],
        onUndone: (ref) =>
          logger.info({ height: ref.height, hash: displayHash(ref.hash) }, 'block taken back'),
      }),
    rollbackStopMs,
  );
  return { blocks, height: tip?.height ?? null, hash: tip === null ? null : displayHash(tip.hash) };
}
