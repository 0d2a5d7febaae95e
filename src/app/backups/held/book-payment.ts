import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { parseTxid } from '#kernel/primitives/hash.ts';
import { asHeight } from '#kernel/primitives/height.ts';
import { watchScripts } from '#payments/store/watches.store.ts';
import { leaseOwnIndex } from '#payouts/following/make-payout.ts';
import { keepPayoutCoin } from '#payouts/following/settle-payout.ts';
import { insertBatch, lockPayout, noteStuck, putOwnIndex, putState } from '#payouts/payout/payout.store.ts';
import { isBatch, type Payout, type StoredPayoutPlan } from '#payouts/payout/payout.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { refundWatchers } from '#purse/destinations/own-scripts.ts';
import { endHold } from '#purse/holding/payment-hold.store.ts';
import { insertTransaction, markSent } from '#purse/transactions/wallet-transactions.store.ts';
import { putBatch } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { settleBatch } from '#withdrawals/settle-batch.ts';
import { type FoundOutput, isReturn } from './found-transaction.ts';
import type { Booking } from './match-payments.ts';

/**
 * Books all found payments and releases the others, in one transaction. Returns false, and changes nothing, if payments
 * were not on hold.
 *
 * @param released number of payments that are made now
 */
export function bookAndRelease(
  pool: pg.Pool,
  bookings: readonly Booking[],
  released: number,
): Promise<boolean> {
  return withTransaction(pool, async (tx) => {
    const isReleased = await endHold(tx, { booked: bookings.length, released });
    if (isReleased) for (const booking of bookings) await bookPayment(tx, booking);
    return isReleased;
  });
}

/**
 * Stores a found transaction as the transaction of its payout, as if this database had signed it. The rounds of payouts
 * then find its block, and post its ledger entries. Throws `OutputTaken`.
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

/** Locks the payout of a booking. Withdrawals without a signed transaction get a new batch. */
async function payoutOf(tx: pg.ClientBase, { open, paid }: Booking): Promise<Payout> {
  const id = open?.payout.id ?? (await insertBatch(tx, null));
  const withdrawals = paid.flatMap(({ payee }) => payee?.withdrawal ?? []);
  if (open === null) await putBatch(tx, withdrawals, id);
  const payout = await lockPayout(tx, id);
  assert(payout !== null && ['asked', 'signed', 'sent'].includes(payout.state), 'the payout is still open');
  return payout;
}

async function storeFound(
  tx: pg.ClientBase,
  { found, open, isReplacement, paid }: Booking,
  { id, kind, ownIndex }: Pick<Payout, 'id' | 'kind' | 'ownIndex'>,
): Promise<void> {
  const txid = parseTxid(found.txid);
  assert(txid !== null, 'a found transaction has a txid');
  const plan = planOf(found, paid, isBatch(kind));
  await insertTransaction(tx, {
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
    isFound: true,
  });
  await markSent(tx, txid, null);
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
