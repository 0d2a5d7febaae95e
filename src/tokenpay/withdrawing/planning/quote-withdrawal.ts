import { maxMoney } from '#kernel/bitcoin/consensus.ts';
import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeightOf } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf, virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import { trustedTxid } from '#kernel/primitives/hash.ts';
import { asU128 } from '#kernel/runes/u128.ts';
import { amountsIn, assetName } from './coin-stock.ts';
import { planWithdrawals } from './plan-withdrawals.ts';
import { WithdrawalDraft } from './withdrawal-draft.ts';
import type {
  PricedWithdrawal,
  Quote,
  QuoteRequest,
  WithdrawalBatch,
  WithdrawalCoin,
  WithdrawalPlan,
  WithdrawalPrice,
  WithdrawalRefusal,
} from './withdrawal-plan.ts';

/**
 * Computes the price of a withdrawal, and who pays it. The price is the fee of a transaction with only this withdrawal.
 * The transaction spends the coins that earlier withdrawals of the account leave. If free coins are not enough now, one
 * more coin is assumed: the unconfirmed change of a batch. Pure, total.
 */
export function quoteWithdrawal(request: QuoteRequest): Quote {
  const { asked, balance } = request;
  if (asked.units <= 0n) return refused({ code: 'amount' });
  if (asked.rune === null && asked.units > balance)
    return refused({ code: 'sats', missing: asked.units - balance });
  const coins = coinsLeft(request);
  const quote = quoteFrom(request, coins);
  if (quote.kind === 'refused' || quote.payer !== 'operator' || !spendsPoor(request, coins, quote))
    return quote;
  // an account pays for the transaction itself if its coins are spent that cost more than their value
  return quoteFrom({ ...request, feePayer: 'account' }, coins);
}

function quoteFrom(request: QuoteRequest, coins: readonly WithdrawalCoin[]): Quote {
  if (request.asked.rune !== null) return runeQuote(request, coins);
  return request.feePayer === 'operator' ? wholeQuote(request, coins, 'operator') : satsQuote(request, coins);
}

/** Whether a withdrawal spends a coin of its account whose input costs more than the coin's value. */
function spendsPoor(
  request: QuoteRequest,
  coins: readonly WithdrawalCoin[],
  { sats }: WithdrawalPrice,
): boolean {
  const alone = planAlone(request, coins, sats);
  return (
    alone.kind === 'alone' &&
    alone.plan.inputs.some((coin) => coin.owner !== null && isPoor(coin, request.feeRate))
  );
}

const isPoor = ({ script, value }: WithdrawalCoin, feeRate: bigint): boolean =>
  value <= feeOf(keyInputWeightOf(script), feeRate);

const refused = (refusal: WithdrawalRefusal): Quote => ({ kind: 'refused', ...refusal });

/**
 * Coins that are left after the earlier withdrawals. So two withdrawals of one account are never priced with the same
 * coin.
 */
function coinsLeft({ asked, before, coins, isOwnOnly, ...rules }: QuoteRequest): WithdrawalCoin[] {
  const usable = coins.filter(({ owner }) => (owner === null ? !isOwnOnly : owner === asked.account));
  if (before.length === 0) return usable;
  const draft = new WithdrawalDraft({ ...rules, withdrawals: [], coins: usable, kept: [], replaced: null });
  for (const earlier of before) draft.add(earlier);
  const taken = new Set(draft.inputs);
  return usable.filter((coin) => !taken.has(coin));
}

type Alone = { readonly kind: 'alone'; readonly plan: WithdrawalPlan; readonly fee: bigint };

function planAlone(request: QuoteRequest, coins: readonly WithdrawalCoin[], sats: bigint): Alone | Quote {
  const withdrawal: PricedWithdrawal = { ...request.asked, sats };
  const tried = tryAlone(request, coins, withdrawal);
  if (request.isOwnOnly && tried.waiting.length > 0) return refused({ code: 'own' });
  const planned =
    tried.waiting.length === 0 ? tried : tryAlone(request, withPendingChange(request, coins), withdrawal);
  const [no] = planned.refused;
  if (no !== undefined) return refused(no.refusal);
  // the withdrawal needs more sats than exist, so no balance can have them
  if (planned.plan === null) return refused({ code: 'amount' });
  return { kind: 'alone', plan: planned.plan, fee: planned.plan.fee - planned.plan.overpaid };
}

function tryAlone(
  { feeRate, change, limits }: QuoteRequest,
  coins: readonly WithdrawalCoin[],
  withdrawal: PricedWithdrawal,
) {
  const batch: WithdrawalBatch = {
    withdrawals: [withdrawal],
    coins,
    kept: [],
    replaced: null,
    feeRate,
    change,
    limits,
  };
  return planWithdrawals(batch);
}

/**
 * The coins of the account, and one assumed change that has everything that the account lacks. This change replaces all
 * coins without an owner.
 */
function withPendingChange(
  { asked: { rune, units }, change }: QuoteRequest,
  coins: readonly WithdrawalCoin[],
): WithdrawalCoin[] {
  const own = coins.filter(({ owner }) => owner !== null);
  const there = own.reduce((sum, coin) => sum + (amountsIn(coin).get(assetName(rune)) ?? 0n), 0n);
  const isShort = rune !== null && there < units;
  const pending: WithdrawalCoin = {
    txid: trustedTxid(new Uint8Array(32)),
    vout: 0,
    value: BigInt(maxMoney),
    script: change,
    key: { branch: 1, index: 0 },
    owner: null,
    runes: isShort ? [{ id: rune, amount: asU128(units - there) }] : [],
  };
  return [...own, pending];
}

function runeQuote(request: QuoteRequest, coins: readonly WithdrawalCoin[]): Quote {
  const postage = BigInt(dustOf(request.asked.script));
  const alone = planAlone(request, coins, postage);
  if (alone.kind !== 'alone') return alone;
  const cost = alone.fee + postage;
  if (request.feePayer === 'operator')
    return priceOf(request, alone, {
      sats: postage,
      postage,
      payer: 'operator',
      fromBalance: 0n,
      fromOperator: cost,
    });
  const missing = cost - spendableBalance(request, alone.plan) - request.debtMax;
  if (missing > 0n) return refused({ code: 'sats', missing });
  return priceOf(request, alone, {
    sats: postage,
    postage,
    payer: 'balance',
    fromBalance: cost,
    fromOperator: 0n,
  });
}

/**
 * Computes the price if the rest of the balance pays the fee. If this rest is too small, the withdrawal itself pays the
 * fee.
 */
function satsQuote(request: QuoteRequest, coins: readonly WithdrawalCoin[]): Quote {
  // if the entire balance is withdrawn, the fee is not paid in addition: the account did not request this, and it might
  // need one input more than allowed
  if (request.balance <= request.asked.units) return partQuote(request, coins);
  const whole = wholeQuote(request, coins, 'balance');
  const isPaid = whole.kind === 'price' || whole.code !== 'sats';
  return isPaid ? whole : partQuote(request, coins);
}

/** Computes the price if the receiver gets the full amount, and someone else pays the fee. */
function wholeQuote(
  request: QuoteRequest,
  coins: readonly WithdrawalCoin[],
  payer: 'balance' | 'operator',
): Quote {
  const { units } = request.asked;
  const alone = planAlone(request, coins, units);
  if (alone.kind !== 'alone') return alone;
  const { fee, plan } = alone;
  const shared = { sats: units, postage: 0n, payer };
  if (payer === 'operator')
    return priceOf(request, alone, { ...shared, fromBalance: units, fromOperator: fee });
  const missing = units + fee - spendableBalance(request, plan);
  return missing > 0n
    ? refused({ code: 'sats', missing })
    : priceOf(request, alone, { ...shared, fromBalance: units + fee, fromOperator: 0n });
}

/**
 * Computes the price if the withdrawal pays the fee. The fee decides whether the transaction has a change, so a second
 * plan uses the fee of the first plan.
 */
function partQuote(request: QuoteRequest, coins: readonly WithdrawalCoin[]): Quote {
  const { units, script } = request.asked;
  const least = BigInt(dustOf(script));
  const first = planAlone(request, coins, units < least ? units : least);
  if (first.kind !== 'alone') return first;
  const expected = units - first.fee;
  if (expected < least) return refused({ code: 'dust', sats: expected, least });
  const second = planAlone(request, coins, expected);
  if (second.kind !== 'alone') return second;
  const sats = units - second.fee;
  if (sats < least) return refused({ code: 'dust', sats, least });
  return priceOf(request, second, {
    sats,
    postage: 0n,
    payer: 'withdrawal',
    fromBalance: units,
    fromOperator: 0n,
  });
}

/**
 * The balance, less the sats in poor coins of the account that this withdrawal does not spend. The input of a poor coin
 * costs more than the coin's value. So only a transaction that spends such coins can use their sats.
 */
function spendableBalance(
  { asked, balance, coins, feeRate }: QuoteRequest,
  { inputs }: WithdrawalPlan,
): bigint {
  const spent = new Set(inputs);
  let idle = 0n;
  for (const coin of coins) {
    if (coin.owner === asked.account && isPoor(coin, feeRate) && !spent.has(coin)) idle += coin.value;
  }
  // the poor coins may have more sats than the balance, because they also contain the service's part of fee charges
  return balance <= 0n ? balance : balance > idle ? balance - idle : 0n;
}

type PaidParts = Pick<WithdrawalPrice, 'sats' | 'postage' | 'payer' | 'fromBalance' | 'fromOperator'>;

function priceOf({ balance }: QuoteRequest, { plan, fee }: Alone, parts: PaidParts): WithdrawalPrice {
  const lacking = parts.fromBalance - (balance > 0n ? balance : 0n);
  return {
    kind: 'price',
    ...parts,
    fee,
    debt: lacking > 0n ? lacking : 0n,
    inputs: plan.inputs.length,
    virtualBytes: virtualSize(plan.weight),
  };
}
