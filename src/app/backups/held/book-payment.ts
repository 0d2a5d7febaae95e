import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash, parseTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { leaseOwnIndex } from '#payouts/following/make-payout.ts';
import { keepPayoutCoin } from '#payouts/following/settle-payout.ts';
import { insertConsolidation } from '#payouts/payout/consolidations.store.ts';
import {
  insertBatch,
  insertPayout,
  lockPayout,
  noteStuck,
  putOwnIndex,
  putState,
} from '#payouts/payout/payout.store.ts';
import { isBatch, type Payout, type StoredPayoutPlan } from '#payouts/payout/payout.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { refundWatchers } from '#purse/destinations/own-scripts.ts';
import { endHold } from '#purse/holding/payment-hold.store.ts';
import { OutputTaken } from '#purse/transactions/spends.store.ts';
import {
  insertTransaction,
  markSent,
  type NewTransaction,
} from '#purse/transactions/wallet-transactions.store.ts';
import type { WithdrawalState } from '#tokenpay/withdrawing/withdrawal.ts';
import { lockWithdrawalsOf, putBatch } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { settleBatch } from '#withdrawals/settle-batch.ts';
import type { ChainReader } from './find-transactions.ts';
import { type FoundOutput, isReturn } from './found-transaction.ts';
import {
  compareHeld,
  countLeft,
  type HeldParts,
  type HeldPayments,
  requireReleasable,
  requireShown,
} from './held-payments.ts';
import type { Booking } from './match-payments.ts';
import { lockOpenPayments } from './open-payments.ts';

/**
 * Books all found payments and releases the others, in one transaction. Reads later blocks and the mempool again first,
 * and compares the found transactions with the payments that are open now. Returns what was done. Throws
 * `release_refused` if anything is to be booked or accepted that was not shown, and then nothing has changed.
 */
export async function bookAndRelease(
  parts: HeldParts,
  { held: shown, reader }: { readonly held: HeldPayments; readonly reader: ChainReader },
  mayPayAgain: boolean,
): Promise<HeldPayments> {
  const evidence = await reader.read();
  return withTransaction(parts.pool, async (tx) => {
    await lockOpenPayments(tx);
    const now = await compareHeld(tx, parts, shown.hold, evidence);
    requireReleasable(now, mayPayAgain);
    requireShown(now, shown);
    if (!(await endHold(tx, { booked: now.bookings.length, released: countLeft(now) })))
      throw new AppError('release_refused', 'The payments were released meanwhile. Nothing is left to do.');
    for (const booking of now.bookings) await bookPayment(tx, booking);
    return now;
  });
}

/**
 * Stores a found transaction as the transaction of its payout, as if this database had signed it. The rounds of payouts
 * then find its block, and post its ledger entries. Throws `release_refused`.
 */
async function bookPayment(tx: pg.ClientBase, booking: Booking): Promise<void> {
  const payout = await payoutOf(tx, booking);
  const { id, kind } = payout;
  const change = booking.found.outputs.find(({ key }) => key !== null);
  const ownIndex = payout.ownIndex ?? change?.key?.index ?? (await leaseOwnIndex(tx, id));
  await putOwnIndex(tx, id, ownIndex);
  await watch(tx, id, booking.found);
  await storeFound(tx, booking, { ...payout, ownIndex });
  const transactions = await readPayoutTransactions(tx, id);
  await keepPayoutCoin(tx, { ...payout, ownIndex }, transactions);
  await putState(tx, id, 'sent');
  await noteStuck(tx, id, null);
  if (isBatch(kind)) await settleBatch(tx, { id, state: 'sent', stuck: null }, transactions);
}

/** Locks the payout of a booking and its withdrawals. A transaction without a stored payout gets a new batch. */
async function payoutOf(tx: pg.ClientBase, booking: Booking): Promise<Payout> {
  const { open, paid } = booking;
  const id = open?.payout.id ?? (await insertFor(tx, booking));
  const withdrawals = paid.flatMap(({ payee }) => payee?.withdrawal ?? []);
  if (open === null && (await putBatch(tx, withdrawals, id)) !== withdrawals.length)
    throw changed('A withdrawal that a found transaction pays');
  const payout = await lockPayout(tx, id);
  if (payout === null || !['asked', 'signed', 'sent'].includes(payout.state))
    throw changed(`The payout ${id}`);
  if (!isBatch(payout.kind)) return payout;
  const members = (await lockWithdrawalsOf(tx, id)).filter(({ state }) => isOpen(state));
  if (members.length !== withdrawals.length || members.some((member) => !withdrawals.includes(member.id)))
    throw changed(`The withdrawals of the payout ${id}`);
  return payout;
}

/** Stores a payout for a transaction that has no stored payout: a payout of partners, or a batch. Returns its id. */
function insertFor(tx: pg.ClientBase, { paid, shares }: Booking): Promise<string> {
  const [first] = shares;
  if (first !== undefined) {
    assert(first.account === 'referral' || first.account === 'creator', 'a partner has an account');
    return insertPayout(tx, first.account, shares);
  }
  return paid.length === 0 ? insertConsolidation(tx) : insertBatch(tx, null);
}

const isOpen = (state: WithdrawalState): boolean => state === 'pending' || state === 'processing';

const changed = (what: string): AppError =>
  new AppError(
    'release_refused',
    `${what} changed meanwhile. Nothing was changed. Run satscribe payouts release again.`,
  );

async function storeFound(
  tx: pg.ClientBase,
  { found, open, isReplacement, paid }: Booking,
  { id, kind, ownIndex }: Pick<Payout, 'id' | 'kind' | 'ownIndex'>,
): Promise<void> {
  const txid = parseTxid(found.txid);
  assert(txid !== null, 'a found transaction has a txid');
  const plan = planOf(found, paid, isBatch(kind));
  await insertFound(tx, {
    txid,
    kind: 'payout',
    orderId: null,
    payoutId: id,
    index: 0,
    files: 0,
    bytes: Buffer.from(found.hex, 'hex'),
    plan,
    fee: BigInt(sumOf(plan.inputs) - sumOf(plan.outputs)),
    replaces: isReplacement ? (open?.family ?? null) : null,
    ownIndex,
  });
  await markSent(tx, txid, null);
}

async function insertFound(tx: pg.ClientBase, made: NewTransaction): Promise<void> {
  try {
    await insertTransaction(tx, { ...made, isFound: true });
  } catch (error) {
    if (!(error instanceof OutputTaken)) throw error;
    throw new AppError(
      'release_refused',
      `The transaction ${displayHash(made.txid)} spends a coin that a stored transaction spends, too. The service gives up the stored transaction PAYOUT_CONFIRMATIONS blocks after it found the coin spent. Run satscribe payouts release again then.`,
    );
  }
}

/** Watches the change, or a receiver if there is no change, because its block is found by a watched output. */
async function watch(tx: pg.ClientBase, id: string, { outputs, height }: Booking['found']): Promise<void> {
  assert(height !== null, 'a booked transaction is in a block');
  const change = outputs.find(({ key }) => key !== null);
  const watched = change ?? outputs.find((output) => !isReturn(output));
  assert(watched !== undefined, 'a booked transaction pays others');
  const watcher = change === undefined ? `${refundWatchers}payout ${id}` : `payout ${id}`;
  await watchScripts(tx, watcher, [
    { script: Buffer.from(watched.script, 'hex'), sinceHeight: asHeight(height) },
  ]);
}

function planOf(
  { inputs, outputs }: Booking['found'],
  paid: Booking['paid'],
  isOfAccounts: boolean,
): StoredPayoutPlan {
  const payees = new Map(paid.map(({ output, payee }) => [output, payee]));
  return {
    inputs: inputs.map(({ outpoint, value, script, key }) => {
      assert(value !== null && script !== null && key !== null, 'a booked transaction is of the wallet');
      const branch = key.branch === 1 && !isOfAccounts ? {} : { branch: key.branch };
      return { outpoint, value: Number(value), script, keyIndex: key.index, ...branch };
    }),
    outputs: outputs.map((output) => {
      const { value, script } = output;
      const withdrawal = payees.get(output)?.withdrawal ?? null;
      const kind = kindOf(output, isOfAccounts);
      const stored = { kind, value: Number(value), script };
      return withdrawal === null ? stored : { ...stored, withdrawal };
    }),
  };
}

function kindOf(output: FoundOutput, isOfAccounts: boolean): StoredPayoutPlan['outputs'][number]['kind'] {
  if (output.key !== null) return 'change';
  if (isReturn(output)) return 'burn';
  return isOfAccounts ? 'withdrawal' : 'payout';
}

const sumOf = (parts: readonly { readonly value: number }[]): number =>
  parts.reduce((sum, { value }) => sum + value, 0);
