import assert from 'node:assert/strict';
import type pg from 'pg';
import { failpoint } from '#kernel/process/failpoint.ts';
import { lookSoon } from '#orders/order/order.store.ts';
import { supersedeOfOrders } from '#orders/order/order-transactions.store.ts';
import { lockPayout, noteStuck, putState, readShares } from '#payouts/payout/payout.store.ts';
import {
  isBatch,
  mayFollow,
  type Payout,
  type PayoutShare,
  type PayoutTransaction,
  stateOf,
} from '#payouts/payout/payout.ts';
import { payoutEntries } from '#payouts/payout/payout-entries.ts';
import { isPayoutDeep, readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import type { HeldCoin } from '#purse/coins/coin.ts';
import { keepCoins } from '#purse/coins/coins.store.ts';
import { heldByOwner, heldByService, postEntries, readEntries } from '#purse/ledger/ledger.store.ts';
import {
  correctionsTo,
  type LedgerAccount,
  type LedgerEntry,
  partnerAccounts,
} from '#purse/ledger/ledger.ts';
import { takeUp } from '#purse/transactions/supersede.store.ts';
import type { WithdrawalBatches } from './payout-parts.ts';

/** A payout whose state was updated from blocks and stored transactions. */
export interface SettledPayout {
  readonly payout: Payout;
  readonly shares: readonly PayoutShare[];
  /** Transactions, the newest first. */
  readonly transactions: readonly PayoutTransaction[];
}

/**
 * Updates a payout from blocks: its ledger entries, its change coin and its state. A second call has no effect. Returns
 * null if the payout has ended. Also returns null if the ledger waits for entries of orders, which a later block
 * causes.
 */
export async function settlePayout(
  tx: pg.ClientBase,
  id: string,
  withdrawals: WithdrawalBatches | null,
): Promise<SettledPayout | null> {
  const payout = await lockPayout(tx, id);
  if (payout === null || payout.state === 'settled' || payout.state === 'cancelled') return null;
  const shares = await readShares(tx, id);
  await keepOneFamily(tx, await readPayoutTransactions(tx, id));
  const transactions = await readPayoutTransactions(tx, id);
  const isPosted = await post(tx, payout, { shares, transactions }, withdrawals);
  await keepPayoutCoin(tx, payout, transactions);
  if (!isPosted) {
    await noteStuck(
      tx,
      id,
      'A block has the transaction of the payout, but the ledger does not yet have what the payout pays out.',
    );
    return null;
  }
  const live = transactions.filter(({ isSuperseded }) => !isSuperseded);
  const isMined = live.some(({ height }) => height !== null);
  const state = stateOf(payout.state, {
    isSigned: live.length > 0,
    isSent: live.some(({ sentAt }) => sentAt !== null),
    isMined,
    isDeep: isMined && (await isPayoutDeep(tx, id)),
  });
  if (state !== payout.state) {
    assert(mayFollow(payout.state, state), 'states of payouts follow each other');
    await putState(tx, id, state);
    if (state === 'mined') failpoint('payout-mined');
  }
  if (isBatch(payout.kind)) await withdrawals?.settle(tx, { ...payout, state }, transactions);
  return { payout: { ...payout, state }, shares, transactions };
}

/** Posts the entries of a payout by its kind. Returns false if the ledger has to wait. */
async function post(
  tx: pg.ClientBase,
  { id, kind }: Payout,
  { shares, transactions }: Pick<SettledPayout, 'shares' | 'transactions'>,
  withdrawals: WithdrawalBatches | null,
): Promise<boolean> {
  if (!isBatch(kind)) return postPayout(tx, id, payoutEntries(shares, transactions));
  assert(withdrawals !== null, 'batches are settled where withdrawals are');
  await withdrawals.post(tx, id, transactions);
  return true;
}

/**
 * Reactivates a transaction that is in a block, even if it was given up. Gives up the transactions that conflict with
 * it, because they can no longer be mined.
 */
async function keepOneFamily(tx: pg.ClientBase, all: readonly PayoutTransaction[]): Promise<void> {
  const mined = all.filter(({ height }) => height !== null);
  if (mined.length === 0) return;
  const back = mined.filter(({ isSuperseded }) => isSuperseded);
  if (back.length > 0) await lookSoon(tx, await takeUp(tx, back, []));
  await supersedeOfOrders(
    tx,
    all.filter(({ height, isSuperseded }) => height === null && !isSuperseded).map(({ txid }) => txid),
  );
}

/**
 * Posts entries. Returns false if an account would have paid more than it received. A later block then causes the
 * entries of the orders that paid into the account.
 */
async function postPayout(tx: pg.ClientBase, id: string, wanted: readonly LedgerEntry[]): Promise<boolean> {
  const subject = { kind: 'payout', id } as const;
  const missing = correctionsTo(wanted, await readEntries(tx, subject));
  for (const account of partnerAccounts) {
    const ofAccount = missing.filter(({ from }) => from === account);
    for (const [owner, of] of Map.groupBy(ofAccount, ({ fromOwner }) => fromOwner)) {
      const paid = of.reduce((sum, { amount }) => sum + amount, 0n);
      if (owner !== null && (await heldByOwner(tx, account, owner)) < paid) return false;
    }
  }
  if (missing.some(({ from, to }) => isOurs(from) && to === 'outside')) {
    const { service, operator } = await heldByService(tx);
    const taken = missing.reduce(
      (sum, { from, to, amount }) => sum + (isOurs(from) ? amount : 0n) - (isOurs(to) ? amount : 0n),
      0n,
    );
    if (service + operator < taken) return false;
  }
  await postEntries(tx, subject, wanted);
  return true;
}

const isOurs = (account: LedgerAccount): boolean => account === 'service' || account === 'operator';

/**
 * Stores the change of the mined transaction. If no transaction is mined, stores the change of the newest transaction,
 * because at most one transaction is mined. The change of batches is held for accounts.
 */
export async function keepPayoutCoin(
  tx: pg.ClientBase,
  { id, kind: payoutKind, ownIndex }: Pick<Payout, 'id' | 'kind' | 'ownIndex'>,
  transactions: readonly PayoutTransaction[],
): Promise<void> {
  const live = transactions.filter(({ isSuperseded }) => !isSuperseded);
  const mined = live.filter(({ height }) => height !== null);
  const counted = mined.length > 0 ? mined : live.slice(0, 1);
  const coins = counted.flatMap(({ txid, plan }): HeldCoin[] =>
    plan.outputs.flatMap(({ kind, value }, vout): HeldCoin[] =>
      kind !== 'change' || ownIndex === null
        ? []
        : [
            {
              txid,
              vout,
              value: BigInt(value),
              key: { branch: 1, index: ownIndex },
              held: isBatch(payoutKind) ? 'accounts' : 'free',
              why: 'rest',
            },
          ],
    ),
  );
  await keepCoins(
    tx,
    { kind: 'payout', subjects: [id] },
    coins.map((coin) => ({ ...coin, subject: id })),
  );
}
