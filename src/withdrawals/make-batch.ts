import { strict as assert } from 'node:assert';
import type pg from 'pg';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { checkDestinations } from '#kernel/bitcoin/destination.ts';
import { type Holdings, nothingHeld } from '#kernel/contracts/holdings.ts';
import type { TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { destination } from '#orders/making/sign-and-store.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { nextBlock, watchScripts } from '#payments/store/watches.store.ts';
import { leaseOwnIndex, NotCovered, waitsForGivenUp } from '#payouts/following/make-payout.ts';
import type { MadeBatch, PayoutParts } from '#payouts/following/payout-parts.ts';
import { keepPayoutCoin } from '#payouts/following/settle-payout.ts';
import { lockPayout, noteStuck, putState } from '#payouts/payout/payout.store.ts';
import type { StoredPayoutPlan } from '#payouts/payout/payout.ts';
import { readPayoutTransactions } from '#payouts/payout/payout-transactions.store.ts';
import { askDataCarrier } from '#psbts/burning/data-carrier.ts';
import { ownScriptsAmong } from '#purse/destinations/own-scripts.ts';
import { readHoldings } from '#purse/transactions/input-holdings.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { storedHoldings } from '#purse/transactions/stored-holdings.ts';
import { insertTransaction } from '#purse/transactions/wallet-transactions.store.ts';
import { nameWithdrawals } from '#tokenpay/withdrawing/name-withdrawals.ts';
import { withdrawalFault } from '#tokenpay/withdrawing/planning/withdrawal-fault.ts';
import type {
  PlannedBatch,
  WithdrawalCoin,
  WithdrawalPlan,
} from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { endWithdrawal, putBatch, withdrawalsOf } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { coinsFor, spentCoins } from './batch-facts.ts';
import { lackingSats } from './covered.queries.ts';
import { batchRate, type PlannedParts, planThere, waitingReason, weightMax } from './plan-batch.ts';
import { settleBatch, tellAccounts } from './settle-batch.ts';

export interface BatchPolicy {
  /** WITHDRAW_INPUTS_MAX */
  readonly inputsMax: number;
  /** WITHDRAW_BUMP_MAX_SATS */
  readonly bumpMax: bigint;
}

/** A plan of a batch with the withdrawals that it pays. */
interface ReadyBatch extends MadeBatch {
  readonly withdrawals: readonly Withdrawal[];
  readonly planned: PlannedBatch;
  readonly plan: WithdrawalPlan;
  readonly ownIndex: number;
}

/**
 * Plans, signs and stores the transaction of a batch, or one that takes the place of an unconfirmed one. Returns why it
 * cannot be made; null: it is stored, or the batch has nothing left. Throws `OutputTaken` and `NotCovered`.
 */
export async function makeBatch(
  parts: PayoutParts,
  making: MadeBatch,
  policy: BatchPolicy,
): Promise<string | null> {
  const { client } = parts;
  const { id } = making.payout;
  const withdrawals = await withdrawalsOf(client, id);
  if (withdrawals.length === 0) return endEmpty(client, id);
  const prepared = await prepareBatch(parts, making, withdrawals, policy);
  if (typeof prepared === 'string') return prepared;
  const { wanted, feeRate, ownIndex } = prepared;
  const planned = await planThere(parts.node, wanted, making, feeRate);
  const { plan } = planned;
  if (plan === null) return endRefused(client, id, planned);
  const ready = { ...making, withdrawals, planned, plan, ownIndex };
  const waits = await whyWaits(parts, ready, policy);
  return waits ?? signAndStore(parts, ready, wanted.limits);
}

interface PreparedBatch {
  readonly wanted: PlannedParts;
  readonly feeRate: bigint;
  readonly ownIndex: number;
}

/** Reads what a plan needs. A text: why there is none now. */
async function prepareBatch(
  { client, signer, node }: PayoutParts,
  making: MadeBatch,
  withdrawals: readonly Withdrawal[],
  { inputsMax }: BatchPolicy,
): Promise<PreparedBatch | string> {
  const feeRate = batchRate(making);
  if (feeRate === null) return 'Fees are above 200 sats for a virtual byte: it waits for lower ones.';
  const refused = await refusedDestination(client, withdrawals);
  if (refused !== null) return refused;
  const named = await nameWithdrawals(client, withdrawals);
  if (named.length === 0)
    return 'No block has the etching of its rune now: it waits for the block to come back.';
  const coins = await coinsFor(client, withdrawals, inputsMax);
  const kept = await keptCoins(client, making, coins);
  if (kept === null) return 'The index does not yet know what its coins hold.';
  const ownIndex = making.payout.ownIndex ?? (await leaseOwnIndex(client, making.payout.id));
  const change = destination(signer, { key: { branch: 1, index: ownIndex }, leafScript: null }).script;
  const { bytesMax } = await askDataCarrier(node);
  const limits = { dataCarrierBytes: bytesMax, inputsMax, weightMax };
  return { wanted: { withdrawals: named, coins, kept, change, limits }, feeRate, ownIndex };
}

/** Why a plan is not signed now; null: it is. */
async function whyWaits(parts: PayoutParts, ready: ReadyBatch, policy: BatchPolicy): Promise<string | null> {
  const { payout, transactions, replaced, withdrawals, planned, plan } = ready;
  // those before it paid all of them
  if (transactions.length > 0 && leftOut(ready).length > 0) return waitingReason(planned);
  if (replaced !== null && !mayCost(plan.fee, withdrawals, transactions, policy))
    return 'To pay more would cost more than its withdrawals were charged and WITHDRAW_BUMP_MAX_SATS.';
  const tip = (await readPaymentsOffset(parts.client))?.height ?? 0;
  const givenUp = replaced === null ? transactions : [];
  return waitsForGivenUp(parts, payout, givenUp, { spent: plan.inputs, tip });
}

/** Withdrawals of the batch that the plan does not pay. */
function leftOut({ withdrawals, plan }: Pick<ReadyBatch, 'withdrawals' | 'plan'>): string[] {
  const paid = new Set(plan.outputs.map(({ withdrawal }) => withdrawal));
  return withdrawals.map(({ id }) => id).filter((id) => !paid.has(id));
}

/** Coins that a plan must spend: those of what it replaces, or those of given up ones that are there. Null: unknown. */
async function keptCoins(
  client: pg.ClientBase,
  { transactions, replaced }: MadeBatch,
  coins: readonly WithdrawalCoin[],
): Promise<readonly WithdrawalCoin[] | null> {
  if (replaced !== null) return spentCoins(client, replaced);
  const before = new Set(transactions.flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)));
  return coins.filter((coin) => before.has(outpointOf(coin)));
}

/** A bump costs at most what accounts were charged and what the first transaction cost, and the setting beyond it. */
function mayCost(
  fee: bigint,
  withdrawals: readonly Withdrawal[],
  transactions: MadeBatch['transactions'],
  { bumpMax }: BatchPolicy,
): boolean {
  const charged = withdrawals.reduce((sum, each) => sum + (each.payer === 'operator' ? 0n : each.fee), 0n);
  const first = transactions.at(-1)?.fee ?? 0n;
  return fee <= (charged > first ? charged : first) + bumpMax;
}

/** Why nothing may be sent to one of these; null: it may. */
async function refusedDestination(
  client: pg.ClientBase,
  withdrawals: readonly Withdrawal[],
): Promise<string | null> {
  const [refused] = await checkDestinations(
    withdrawals.map(({ script, address: named }) => ({ script, named, amount: null })),
    (scripts) => ownScriptsAmong(client, scripts),
  );
  return refused === undefined
    ? null
    : `The address ${refused.destination.named} ${refused.reason}: cancel its withdrawal with satscribe tokenpay withdrawals cancel.`;
}

/** All of its withdrawals were cancelled. */
async function endEmpty(client: pg.ClientBase, id: string): Promise<null> {
  await withTransaction(client, async (tx) => {
    const locked = await lockPayout(tx, id);
    if (locked?.state === 'asked' && (await withdrawalsOf(tx, id)).length === 0)
      await putState(tx, id, 'cancelled');
  });
  return null;
}

/** Ends withdrawals that can never be sent as they are; others wait. */
async function endRefused(client: pg.ClientBase, id: string, planned: PlannedBatch): Promise<string | null> {
  if (planned.refused.length === 0) return waitingReason(planned);
  await withTransaction(client, async (tx) => {
    if ((await lockPayout(tx, id))?.state !== 'asked') return;
    await endThose(tx, planned);
  });
  return planned.waiting.length === 0 ? endEmpty(client, id) : waitingReason(planned);
}

async function endThose(tx: pg.ClientBase, { refused }: PlannedBatch): Promise<void> {
  const ended: Withdrawal[] = [];
  for (const { id, refusal } of refused) {
    const found = await endWithdrawal(tx, id, `It cannot be sent as it is (${refusal.code}).`);
    if (found !== null) ended.push(found);
  }
  await tellAccounts(tx, ended);
}

async function signAndStore(
  parts: PayoutParts,
  ready: ReadyBatch,
  limits: Parameters<typeof withdrawalFault>[2],
): Promise<string | null> {
  const { client, signer } = parts;
  const plan = transactionPlan(ready);
  const held = await readHoldings(client, ready.plan.inputs);
  const runes = held.map((each) => each.runes ?? []);
  const fault = withdrawalFault(ready.plan, runes, limits);
  if (fault !== null) return partedBatch(client, ready, fault);
  try {
    const signed = await signer.signPlan(plan, held);
    failpoint('withdrawals-signed');
    await store(parts, ready, plan, signed);
  } catch (error) {
    if (error instanceof AppError && error.code === 'plan_refused')
      return partedBatch(client, ready, error.message);
    throw error;
  }
  failpoint('withdrawals-stored');
  return null;
}

/** A plan that is refused is a fault of ours: each of its withdrawals gets a batch of its own, so one stops no others. */
async function partedBatch(
  client: pg.ClientBase,
  { payout, transactions, withdrawals }: ReadyBatch,
  fault: string,
): Promise<string | null> {
  const reason = `The plan of its transaction is refused: ${fault}.`;
  if (withdrawals.length === 1 || transactions.length > 0) return reason;
  await withTransaction(client, async (tx) => {
    if ((await lockPayout(tx, payout.id))?.state !== 'asked') return;
    await putBatch(
      tx,
      withdrawals.map(({ id }) => id),
      null,
      true,
    );
    await putState(tx, payout.id, 'cancelled');
  });
  return null;
}

async function store(
  { client, log }: PayoutParts,
  ready: ReadyBatch,
  plan: TransactionPlan,
  signed: Awaited<ReturnType<PayoutParts['signer']['signPlan']>>,
): Promise<void> {
  const { payout, replaced, ownIndex, planned } = ready;
  const { id } = payout;
  const isStored = await withTransaction(client, async (tx) => {
    const locked = await lockPayout(tx, id);
    const members = (await withdrawalsOf(tx, id)).map((each) => each.id);
    // an operator cancelled one of them meanwhile
    if (locked?.state !== payout.state || members.join() !== ready.withdrawals.map((each) => each.id).join())
      return false;
    await endThose(tx, planned);
    await putBatch(tx, leftOut(ready), null);
    const change = plan.outputs.find(({ kind }) => kind === 'change');
    if (change !== undefined)
      await watchScripts(tx, `payout ${id}`, [{ script: change.script, sinceHeight: nextBlock }]);
    await insertTransaction(tx, {
      txid: signed.txid,
      kind: 'payout',
      orderId: null,
      payoutId: id,
      index: 0,
      files: 0,
      bytes: signed.bytes,
      plan: storedPlanOf(plan, signed.holdings),
      fee: signed.fee,
      replaces: replaced?.family ?? null,
      ownIndex,
    });
    const transactions = await readPayoutTransactions(tx, id);
    await keepPayoutCoin(tx, { ...payout, ownIndex }, transactions);
    if (replaced === null) await putState(tx, id, 'signed');
    await noteStuck(tx, id, null);
    await settleBatch(tx, { id, state: 'signed', stuck: null }, transactions);
    const lacking = await lackingSats(tx);
    if (lacking > 0n) throw new NotCovered(lacking);
    return true;
  });
  if (isStored)
    log.info(
      { payout: id, txid: displayHash(signed.txid), fee: Number(signed.fee) },
      replaced === null
        ? 'withdrawals are signed'
        : 'withdrawals are replaced by a transaction that pays more',
    );
}

/** The plan as the signer takes it. */
function transactionPlan({ plan, ownIndex }: Pick<ReadyBatch, 'plan' | 'ownIndex'>): TransactionPlan {
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

const storedPlanOf = (plan: TransactionPlan, holdings: readonly Holdings[]): StoredPayoutPlan => ({
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
    const output = { kind, value: Number(value), script: Buffer.from(script).toString('hex') };
    return holds === null ? output : { ...output, holds };
  }),
});
