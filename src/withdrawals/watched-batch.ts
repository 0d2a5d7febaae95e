import { strict as assert } from 'node:assert';
import type pg from 'pg';
import type { PlannedOutput } from '#kernel/contracts/transaction-plan.ts';
import { nextBlock, unwatchScripts, watchScripts } from '#payments/store/watches.store.ts';
import type { PayoutTransaction } from '#payouts/payout/payout.ts';
import { refundWatchers } from '#purse/destinations/own-scripts.ts';

/** The watcher of a receiver's script, which does not belong to the service. */
const receiverWatcherOf = (id: string): string => `${refundWatchers}payout ${id}`;

/**
 * Watches the output by which the block of a batch is found. This is its change, or a receiver if the batch has no
 * change. Without a watch, a mined batch could be missed, given up, and paid again.
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

/** Stops watching receivers of a deep batch. Otherwise all payments to them would be stored forever. */
export async function endReceiverWatch(
  tx: pg.ClientBase,
  id: string,
  transactions: readonly Pick<PayoutTransaction, 'plan'>[],
): Promise<void> {
  const isWatched = transactions.some(({ plan }) => plan.outputs.every(({ kind }) => kind !== 'change'));
  if (isWatched) await unwatchScripts(tx, receiverWatcherOf(id));
}
