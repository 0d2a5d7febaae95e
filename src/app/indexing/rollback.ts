import { type RollbackSummary, rollback } from '#indexer/follow/rollback.ts';
import type { PastChain } from '#kernel/contracts/past-chain.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { takeAdvisoryLock } from '#kernel/pg/advisory-lock.ts';
import { connectClient, createPool } from '#kernel/pg/pool.ts';
import { type BlockHashHex, displayHash } from '#kernel/primitives/hash.ts';
import type { Height } from '#kernel/primitives/height.ts';
import type { NetworkName } from '#kernel/primitives/network.ts';
import { forgetAbove } from '#search/segments/forget-segments.ts';
import type { CommandContext } from '#src/app/command-context.ts';
import { type Database, networkOf, openDatabase, tipOf } from '#src/app/database/database.ts';
import { type ConnectedNode, linkedNode } from '#src/app/sources/node.ts';
import { pastOfNode } from './past.ts';

/** How long the rollback may take to stop, in ms. It finishes the undo of the current block first. */
const rollbackStopMs = 60_000;

export interface RolledBack {
  readonly blocks: number;
  /** The height of the remaining tip. `null` if no block remains. */
  readonly height: Height | null;
  readonly hash: BlockHashHex | null;
}

/**
 * Undoes all blocks above a height in the database of the settings. It begins after `confirm` has settled; `confirm`
 * receives the question for the operator. Throws `database_busy` if a process indexes or serves the index.
 */
export async function rollbackTo(
  context: CommandContext,
  height: Height,
  confirm: (question: string) => Promise<void>,
): Promise<RolledBack> {
  const { lifecycle, logger } = context;
  const database = await openDatabase(context, 'existing');
  const network = await networkOf(database);
  const indexed = await tipOf(database);
  if (network === null || indexed === null) {
    throw new AppError('nothing_indexed', 'There is nothing to take back, because no block is indexed.');
  }
  await refuseBesideService(context, database);
  if (indexed > height) {
    const last = `the last indexed block is ${indexed} of ${network}`;
    await confirm(`This takes back all blocks above ${height}; ${last}.`);
  }
  const pool = createPool(database.url, {
    applicationName: 'satscribe rollback',
    onError: (error) => logger.warn({ err: error }, 'an idle connection was lost'),
  });
  lifecycle.add('rollback connections', () => pool.end());
  const takeBack = (past?: PastChain): Promise<RollbackSummary> =>
    lifecycle.run(
      'rollback',
      (signal) =>
        rollback({
          pool,
          network,
          height,
          signal,
          undoHooks: [forgetAbove],
          past,
          onUndone: (ref) =>
            logger.info({ height: ref.height, hash: displayHash(ref.hash) }, 'block taken back'),
        }),
      rollbackStopMs,
    );
  const { blocks, tip } = await takeBack().catch(async (error: unknown) => {
    if (!isForgotten(error)) throw error;
    // no block was undone, because the tables lack data that a node has
    const { node, source } = await nodeFor(context, network, error);
    return takeBack(pastOfNode({ pool, node, blocks: source, logger }));
  });
  return { blocks, height: tip?.height ?? null, hash: tip === null ? null : displayHash(tip.hash) };
}

const isForgotten = (error: unknown): error is AppError =>
  error instanceof AppError && error.code === 'sats_forgotten';

/** Connects to the node of the settings. Throws `otherwise` if the node does not answer. */
async function nodeFor(
  context: CommandContext,
  network: NetworkName,
  otherwise: AppError,
): Promise<ConnectedNode> {
  try {
    return await (await linkedNode(context, network)).connected;
  } catch (error) {
    if (error instanceof AppError && error.code === 'node_unreachable') throw otherwise;
    throw error;
  }
}

/** Stops services from starting their work until this process ends. */
async function refuseBesideService({ lifecycle }: CommandContext, { url }: Database): Promise<void> {
  const client = await connectClient(url, 'satscribe rollback');
  lifecycle.add('lock of the rollback', () => client.end());
  await takeAdvisoryLock(client, 'service').catch((error: unknown) => {
    if (!(error instanceof AppError && error.code === 'database_busy')) throw error;
    const message = 'A service that indexes into this database is running. Stop this service first.';
    throw new AppError('database_busy', message, { lock: 'service' });
  });
}
