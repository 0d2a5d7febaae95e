import type pg from 'pg';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Payout, PayoutTransaction } from '#payouts/payout/payout.ts';
import { postEntries } from '#purse/ledger/ledger.store.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { tokenRunesOf } from '#tokenpay/order/token-runes.store.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { withdrawalMessages } from '#tokenpay/withdrawing/withdrawal-answer.ts';
import { withdrawalEntries } from '#tokenpay/withdrawing/withdrawal-entries.ts';
import {
  type BatchStanding,
  putBatch,
  putBatchState,
  putReason,
  withdrawalsWith,
} from '#tokenpay/withdrawing/withdrawals.store.ts';
import { putWebhooksOf } from '#webhooks/outbox.ts';
import { endReceiverWatch } from './watched-batch.ts';

/**
 * Posts the ledger entries of a batch's transactions that are in blocks, and reverses the entries of its other
 * transactions.
 */
export async function postBatch(
  tx: pg.ClientBase,
  id: string,
  transactions: readonly PayoutTransaction[],
): Promise<void> {
  const mined = transactions.filter(({ height }) => height !== null);
  // read the withdrawals by id, because the transaction may pay a withdrawal that left the batch after the transaction
  // was given up
  const all = new Map((await withdrawalsWith(tx, mined.flatMap(paidBy))).map((each) => [each.id, each]));
  const entries = withdrawalEntries(
    mined.map((made) => ({
      txid: Buffer.from(made.txid).toString('hex'),
      fee: made.fee,
      paid: paidBy(made).flatMap((paid) => all.get(paid) ?? []),
    })),
  );
  await postEntries(tx, { kind: 'withdrawal', id }, entries);
}

/** Withdrawals that a stored transaction pays. */
const paidBy = ({ plan }: Pick<PayoutTransaction, 'plan'>): string[] =>
  plan.outputs.flatMap(({ withdrawal }) => withdrawal ?? []);

/** Updates the state of the withdrawals of a batch, and notifies their accounts. A second call has no effect. */
export async function settleBatch(
  tx: pg.ClientBase,
  { id, state, stuck }: Pick<Payout, 'id' | 'state' | 'stuck'>,
  transactions: readonly PayoutTransaction[],
): Promise<void> {
  const isMined = state === 'mined' || state === 'settled';
  if (state === 'settled') await endReceiverWatch(tx, id, transactions);
  // the state is `processing` as soon as a transaction is signed, because a node may then have the transaction
  const waiting = transactions.length === 0 ? 'pending' : 'processing';
  // if a block contains a given-up transaction, the withdrawals that it pays return to this batch
  const mined = transactions.filter(({ height }) => height !== null);
  await putBatch(tx, mined.flatMap(paidBy), id);
  await putReason(tx, id, isMined ? null : stuck);
  const changed = await putBatchState(tx, id, isMined ? 'completed' : waiting, standingOf(transactions));
  if (changed.length === 0) return;
  failpoint('withdrawals-settling');
  await tellAccounts(tx, changed);
}

/**
 * The transaction that represents the batch. This is the mined transaction, otherwise the newest that may be mined,
 * otherwise the newest. `null` if no transaction is signed.
 */
function standingOf(transactions: readonly PayoutTransaction[]): BatchStanding | null {
  const found =
    transactions.find(({ height }) => height !== null) ??
    transactions.find(({ isSuperseded }) => !isSuperseded) ??
    transactions[0];
  if (found === undefined) return null;
  const { txid, fee, virtualBytes } = found;
  return { txid, paidRate: (fee * 1000n) / BigInt(virtualBytes), tries: transactions.length };
}

/** Notifies accounts of withdrawals that changed. */
export async function tellAccounts(tx: pg.ClientBase, changed: readonly Withdrawal[]): Promise<void> {
  const told = changed.filter(({ webhookUrl }) => webhookUrl !== null);
  if (told.length === 0) return;
  const assets = [...new Set(told.map(({ asset }) => asset))].filter((asset) => asset !== satsAsset);
  await putWebhooksOf(tx, withdrawalMessages(told, await tokenRunesOf(tx, assets)));
}
