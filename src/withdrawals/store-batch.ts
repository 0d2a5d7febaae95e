import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { NotCovered } from '#payouts/following/make-payout.ts';
import type { MadeBatch, PayoutParts } from '#payouts/following/payout-parts.ts';
import { keepPayoutCoin } from '#payouts/following/settle-payout.ts';
import { lockPayout, noteStuck, putState } from '#payouts/payout/payout.store.ts';
import type { Payout, StoredPayoutPlan } from '#payouts/payout/payout.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { storedHoldings } from '#purse/transactions/stored-holdings.ts';
import { insertTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import type { PlannedBatch, WithdrawalPlan } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import { lockBalancesOf } from '#tokenpay/withdrawing/uncovered.queries.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { leaveBatch, lockWithdrawalsOf, withdrawalsOf } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { lackingSats } from './covered.queries.ts';
import { endThose } from './end-batch.ts';
import { settleBatch, tellAccounts } from './settle-batch.ts';
import { watchBatch } from './watched-batch.ts';
import { type Withheld, withheldByAccount } from './withheld.ts';

/** A plan of a batch with the withdrawals that it pays. */
export interface ReadyBatch extends MadeBatch {
  /** Withdrawals of the batch, in their order. */
  readonly withdrawals: readonly Withdrawal[];
  /** Withdrawals of the batch that were excluded from the plan. */
  readonly withheld: Withheld;
  /** The setting WITHDRAW_DEBT_MAX_SATS. */
  readonly debtMax: bigint;
  readonly planned: PlannedBatch;
  readonly plan: WithdrawalPlan;
  readonly ownIndex: number;
}

/** Withdrawals of the batch that the plan does not pay. */
export function leftOut({ withdrawals, plan }: Pick<ReadyBatch, 'withdrawals' | 'plan'>): string[] {
  const paid = new Set(plan.outputs.map(({ withdrawal }) => withdrawal));
  return withdrawals.map(({ id }) => id).filter((id) => !paid.has(id));
}

/**
 * Stores a signed transaction if the batch has not changed since it was planned. Otherwise the next round plans it
 * again. Throws `OutputTaken` and `NotCovered`.
 */
export async function storeBatch(
  { client, log }: PayoutParts,
  ready: ReadyBatch,
  plan: TransactionPlan,
  signed: Awaited<ReturnType<PayoutParts['signer']['signPlan']>>,
): Promise<void> {
  const { payout, replaced, ownIndex, planned, withheld } = ready;
  const { id } = payout;
  const isStored = await withTransaction(client, async (tx) => {
    const locked = await lockPayout(tx, id);
    const members = await lockWithdrawalsOf(tx, id);
    if (!isAsPlanned(locked, members, ready)) return false;
    if (replaced === null && !(await isCovered(tx, ready))) return false;
    await endThose(tx, planned);
    const left = [
      ...(await leaveBatch(tx, id, [...withheld.keys()], true)),
      ...(await leaveBatch(tx, id, leftOut(ready), false)),
    ];
    await tellAccounts(tx, left);
    await watchBatch(tx, id, plan.outputs);
    await insertTransaction(tx, {
      txid: signed.txid,
      kind: 'payout',
      orderId: null,
      payoutId: id,
      index: 0,
      files: 0,
      bytes: signed.bytes,
      plan: storedPlanOf(plan, ready.plan, signed.holdings),
      fee: signed.fee,
      replaces: replaced?.family ?? null,
      ownIndex,
    });
    const transactions = await readPayoutTransactions(tx, id);
    await keepPayoutCoin(tx, { ...payout, ownIndex }, transactions);
    if (replaced === null) await putState(tx, id, 'signed');
    await noteStuck(tx, id, null);
    await settleBatch(tx, { id, state: 'signed', stuck: null }, transactions);
    await requirePaid(tx, ready);
    const lacking = await lackingSats(tx);
    if (lacking > 0n) throw new NotCovered(lacking);
    return true;
  });
  if (isStored)
    log.info(
      { payout: id, txid: displayHash(signed.txid), fee: Number(signed.fee) },
      `${payout.kind === 'consolidation' ? 'coins that are joined' : 'withdrawals'} are ${
        replaced === null ? 'signed' : 'replaced by a transaction that pays more'
      }`,
    );
}

/**
 * Whether the batch has not changed since it was planned. Since then, a withdrawal may have been cancelled, or its
 * account may have asked to cancel it.
 */
function isAsPlanned(
  locked: Payout | null,
  members: readonly Withdrawal[],
  { payout, replaced, withdrawals }: ReadyBatch,
): boolean {
  if (locked?.state !== payout.state || idsOf(members) !== idsOf(withdrawals)) return false;
  return replaced !== null || members.every(({ cancelAskedAt }) => cancelAskedAt === null);
}

/**
 * Whether the accounts still cover and allow the planned payments. A block may have arrived since the plan was made.
 */
async function isCovered(
  tx: pg.ClientBase,
  { payout: { id }, withheld, debtMax }: ReadyBatch,
): Promise<boolean> {
  await lockBalancesOf(tx, id);
  const now = await withheldByAccount(tx, id, debtMax);
  return [...now.keys()].every((each) => withheld.has(each));
}

const idsOf = (withdrawals: readonly Withdrawal[]): string => withdrawals.map(({ id }) => id).join();

/**
 * Throws if a withdrawal that the transaction pays could still be cancelled, or if the transaction does not pay a
 * withdrawal of the batch.
 */
async function requirePaid(tx: pg.ClientBase, { payout, plan }: ReadyBatch): Promise<void> {
  const members = await withdrawalsOf(tx, payout.id);
  const paid = plan.outputs.flatMap(({ withdrawal }) => (withdrawal === null ? [] : [withdrawal]));
  assert(
    members.every(({ state }) => state === 'processing') &&
      paid.toSorted().join() === idsOf(members.toSorted((a, b) => (a.id < b.id ? -1 : 1))),
    'a stored transaction pays the withdrawals of its batch',
  );
}

/** The plan in the signer's form. */
export function transactionPlan({ plan, ownIndex }: Pick<ReadyBatch, 'plan' | 'ownIndex'>): TransactionPlan {
  const own = { key: { branch: 1, index: ownIndex } as const, leafScript: null };
  return {
    version: 2,
    lockTime: 0,
    inputs: plan.inputs.map(({ txid, vout, value, script, key }) => ({
      txid,
      vout,
      value,
      script,
      sequence: replaceableSequence,
      key,
      leafScript: null,
      path: 'key' as const,
    })),
    outputs: plan.outputs.map(({ kind, script, value }) =>
      kind === 'change' ? { kind, script, value, own } : { kind, script, value },
    ),
    feeMax: plan.fee,
    ...(plan.runes === null ? {} : { runes: plan.runes }),
  };
}

const storedPlanOf = (
  plan: TransactionPlan,
  { outputs: paid }: Pick<WithdrawalPlan, 'outputs'>,
  holdings: readonly Holdings[],
): StoredPayoutPlan => ({
  inputs: plan.inputs.map((input) => ({
    outpoint: outpointOf(input),
    value: Number(input.value),
    script: Buffer.from(input.script).toString('hex'),
    keyIndex: input.key.index,
    branch: input.key.branch,
  })),
  outputs: plan.outputs.map(({ kind, value, script }, vout) => {
    assert(kind === 'change' || kind === 'withdrawal' || kind === 'burn', 'a batch pays and keeps');
    const holds = kind === 'change' ? storedHoldings(holdings[vout] ?? nothingHeld) : null;
    const withdrawal = paid[vout]?.withdrawal ?? null;
    return {
      kind,
      value: Number(value),
      script: Buffer.from(script).toString('hex'),
      ...(holds === null ? {} : { holds }),
      ...(withdrawal === null ? {} : { withdrawal }),
    };
  }),
});
