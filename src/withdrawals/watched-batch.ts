import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { PlannedOutput } from '#kernel/contracts/transaction-plan.ts';
import { nextBlock, unwatchScripts, watchScripts } from '#payments/store/watches.store.ts';
import type { PayoutTransaction } from '#payouts/payout/payout.ts';
import { refundWatchers } from '#purse/destinations/own-scripts.ts';

/** The name of the watcher for a receiver's script. This script does not belong to the service. */
const receiverWatcherOf = (id: string): string => `${refundWatchers}payout ${id}`;

/**
 * Watches one output of a batch, because the service finds the block of the batch by this output. The output is the
 * change, or a receiver's output if the batch has no change. Without a watch, a mined batch could be missed, given up,
 * and paid again.
 */
export async function watchBatch(
  tx: pg.ClientBase,
  id: string,
  outputs: readonly Pick<PlannedOutput, 'kind' | 'script'>[],
): Promise<void> {
  const change = outputs.find(({ kind }) => kind === 'change');
  const watched = change ?? outputs.find(({ kind }) => kind === 'withdrawal');
  assert(watched !== undefined, 'a batch pays a receiver');
  const watcher = change === undefined ? receiverWatcherOf(id) : `payout ${id}`;
  await watchScripts(tx, watcher, [{ script: watched.script, sinceHeight: nextBlock }]);
}

/**
 * Stops watching the receivers of a batch that is deep in the chain. Otherwise all payments to these receivers would be
 * stored forever.
 */
export async function endReceiverWatch(
  tx: pg.ClientBase,
  id: string,
  transactions: readonly Pick<PayoutTransaction, 'plan'>[],
): Promise<void> {
  const isWatched = transactions.some(({ plan }) => plan.outputs.every(({ kind }) => kind !== 'change'));
  if (isWatched) await unwatchScripts(tx, receiverWatcherOf(id));
}
