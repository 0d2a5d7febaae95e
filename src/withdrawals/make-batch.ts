import { destination } from '#orders/making/sign-and-store.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import { readPaymentsOffset } from '#payments/store/offset.store.ts';
import { leaseOwnIndex, NotCovered, waitsForGivenUp } from '#payouts/following/make-payout.ts';
import type { MadeBatch, PayoutParts } from '#payouts/following/payout-parts.ts';
import { askDataCarrier } from '#psbts/burning/data-carrier.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { nameWithdrawals } from '#tokenpay/withdrawing/name-withdrawals.ts';
import type { WithdrawalCoin } from '#tokenpay/withdrawing/planning/withdrawal-plan.ts';
import type { Withdrawal } from '#tokenpay/withdrawing/withdrawal.ts';
import { withdrawalsOf } from '#tokenpay/withdrawing/withdrawals.store.ts';
import { coinsFor, spentCoins } from './batch-facts.ts';
import type { BatchPolicy } from './batch-policy.ts';
import { endEmpty, endRefused, partBatch } from './end-batch.ts';
import {
  batchRate,
  type PlannedParts,
  planThere,
  spendableCoins,
  waitingReason,
  weightMax,
} from './plan-batch.ts';
import { signAndStore } from './sign-batch.ts';
import { leftOut, type ReadyBatch } from './store-batch.ts';
import { partCostly } from './underpriced.ts';
import { readWithheld, type Withheld } from './withheld.ts';

/**
 * Plans, signs and stores the transaction of a batch, or a replacement of an unconfirmed transaction. Returns the
 * reason if this is not possible. Returns null if a transaction was stored, or if the batch is empty. Throws
 * `OutputTaken`.
 */
export async function makeBatch(
  parts: PayoutParts,
  making: MadeBatch,
  policy: BatchPolicy,
): Promise<string | null> {
  const { client } = parts;
  const { payout, replaced } = making;
  const { id } = payout;
  const withdrawals = await withdrawalsOf(client, id);
  if (withdrawals.length === 0) return endEmpty(client, id);
  // a replacement spends the coins of the previous transaction, so only one of the two can be mined, and the present
  // balances of accounts do not matter
  const withheld: Withheld =
    replaced === null ? await readWithheld(client, id, withdrawals, policy.debtMax) : new Map();
  const [withheldReason] = withheld.values();
  if (withheldReason !== undefined && withheld.size === withdrawals.length)
    return partBatch(client, making, withdrawals, withheldReason);
  const payable = withdrawals.filter((each) => !withheld.has(each.id));
  const prepared = await prepareBatch(parts, making, payable, policy);
  if (typeof prepared === 'string') return prepared;
  const { wanted, feeRate, ownIndex } = prepared;
  const planned = await planThere(parts.node, wanted, making, feeRate);
  const { plan } = planned;
  if (plan === null) return endRefused(client, making, planned);
  const ready = { ...making, withdrawals, withheld, planned, plan, ownIndex, debtMax: policy.debtMax };
  if (replaced === null && !isWithinPrices(ready, policy)) return partCostly(client, ready, feeRate, policy);
  const waits = await whyWaits(parts, ready, policy);
  return waits ?? signOrPart(parts, ready, wanted.limits);
}

interface PreparedBatch {
  readonly wanted: PlannedParts;
  readonly feeRate: bigint;
  readonly ownIndex: number;
}

/** The facts that a plan needs, or the reason in words why no plan can be made now. */
async function prepareBatch(
  { client, signer, node }: PayoutParts,
  making: MadeBatch,
  withdrawals: readonly Withdrawal[],
  { inputsMax }: BatchPolicy,
): Promise<PreparedBatch | string> {
  const feeRate = batchRate(making);
  if (feeRate === null) return 'Fees are above 200 sats per virtual byte. The batch waits for lower fees.';
  const named = await nameWithdrawals(client, withdrawals);
  if (named.length === 0)
    return 'A reorganisation took back the etching of its rune. The batch waits until the etching is in a block again.';
  const coins = await coinsFor(client, withdrawals, inputsMax);
  const kept = await keptCoins({ client, node }, making, coins);
  if (kept === null)
    return 'The index does not yet know what the coins of the batch hold. The next block tries again.';
  const ownIndex = making.payout.ownIndex ?? (await leaseOwnIndex(client, making.payout.id));
  const change = destination(signer, { key: { branch: 1, index: ownIndex }, leafScript: null }).script;
  const { bytesMax } = await askDataCarrier(node);
  const limits = { dataCarrierBytes: bytesMax, inputsMax, weightMax };
  // `kept` was chosen from all coins, because the batch must spend these coins
  const spendable = spendableCoins(coins, making);
  return { wanted: { withdrawals: named, coins: spendable, kept, change, limits }, feeRate, ownIndex };
}

/** The reason why a plan is not signed now. `null` if the plan may be signed. */
async function whyWaits(parts: PayoutParts, ready: ReadyBatch, policy: BatchPolicy): Promise<string | null> {
  const { payout, transactions, replaced, withdrawals, planned, plan } = ready;
  // the previous transaction pays all withdrawals, and a block may contain it instead of the new one
  if (replaced !== null && leftOut(ready).length > 0) return waitingReason(planned);
  if (replaced !== null && !mayCost(plan.fee, withdrawals, transactions, policy))
    return 'A higher fee would cost more than WITHDRAW_BUMP_MAX_SATS and what the withdrawals of the batch were charged.';
  const tip = (await readPaymentsOffset(parts.client))?.height ?? 0;
  const givenUp = replaced === null ? transactions : [];
  return waitsForGivenUp(parts, payout, givenUp, { spent: plan.inputs, tip });
}

/**
 * Coins that a plan must spend. A replacement must spend the coins of the replaced transaction. Any other plan must
 * spend coins of given-up transactions that are still unspent in blocks. `null` if these coins are unknown.
 */
async function keptCoins(
  { client, node }: Pick<PayoutParts, 'client' | 'node'>,
  { transactions, replaced }: MadeBatch,
  coins: readonly WithdrawalCoin[],
): Promise<readonly WithdrawalCoin[] | null> {
  if (replaced !== null) return spentCoins(client, replaced);
  const before = new Set(transactions.flatMap(({ plan }) => plan.inputs.map(({ outpoint }) => outpoint)));
  const kept: WithdrawalCoin[] = [];
  // ask the node, because the service does not see if another wallet with the same seed has spent one of these coins
  for (const coin of coins)
    if (before.has(outpointOf(coin)) && (await isUnspent(node, coin, { mempool: true }))) kept.push(coin);
  return kept;
}

/**
 * Whether a first transaction costs at most the shown prices of its withdrawals plus WITHDRAW_BUMP_MAX_SATS. The
 * transaction may cost more if fees have risen since, or if a withdrawal was priced with one larger coin that does not
 * exist now. A remainder that is too small for a change output is not part of the cost.
 */
export function isWithinPrices(
  { withdrawals, plan: { fee, overpaid, outputs } }: Pick<ReadyBatch, 'withdrawals' | 'plan'>,
  { bumpMax }: Pick<BatchPolicy, 'bumpMax'>,
): boolean {
  const paid = new Set(outputs.map(({ withdrawal }) => withdrawal));
  const priced = withdrawals.reduce((sum, each) => (paid.has(each.id) ? sum + each.fee : sum), 0n);
  return fee - overpaid <= priced + bumpMax;
}

/**
 * Whether a bump costs at most WITHDRAW_BUMP_MAX_SATS more than the charges of accounts or the cost of the first
 * transaction, whichever is higher.
 */
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

/**
 * Signs and stores a plan. A refused plan is a fault of this program, so each of its withdrawals is then tried alone.
 * The same happens if accounts do not cover the plan.
 */
async function signOrPart(
  parts: PayoutParts,
  ready: ReadyBatch,
  limits: Parameters<typeof signAndStore>[2],
): Promise<string | null> {
  const reason = await signAndStore(parts, ready, limits).catch((error: unknown) => {
    if (error instanceof NotCovered) return notCoveredReason(error.missing);
    throw error;
  });
  return reason === null ? null : partBatch(parts.client, ready, ready.withdrawals, reason);
}

const notCoveredReason = (missing: bigint): string =>
  `${missing} sats of debts and of the operator's payments are not covered, and sats of other accounts never pay for them. The batch waits for base fees of completed orders, or for payments to accounts that owe.`;
