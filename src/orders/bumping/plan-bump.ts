import assert from 'node:assert/strict';
import { smallest } from '#kernel/bitcoin/amount.ts';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { feeAt, feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type { Holdings } from '#kernel/contracts/holdings.ts';
import {
  bumpFeeMax,
  type PlannedInput,
  type TransactionPlan,
  type WalletKey,
} from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { largest, p2trDust, valueOf } from '#orders/inscribing/plan-amounts.ts';
import { withHoldings } from '#orders/inscribing/plan-holdings.ts';
import type { OwnDestination } from '#orders/inscribing/plan-transactions.ts';

/** An output of ours: P2TR of a key of branch 1, or an anchor, which has no key. */
export interface OwnedOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Null: an anchor. */
  readonly key: WalletKey | null;
  /** Absent: it holds only its sats. */
  readonly holds?: Holdings;
}

/** A transaction that is to be mined sooner. */
export interface BumpedTransaction {
  readonly orderId: string;
  readonly fee: bigint;
  readonly virtualBytes: number;
  /** Its output that is ours. */
  readonly output: OwnedOutput;
  /** Sats of that output that belong to a customer: they stay in the rest. */
  readonly owed: bigint;
}

/** Unconfirmed transactions that one child pays for together. */
export interface WantedBump {
  readonly parents: readonly BumpedTransaction[];
  /** Unmined ancestors of the parents, together. */
  readonly ancestor: { readonly fee: bigint; readonly virtualBytes: number };
  /** Inputs of the replaced child, beside the outputs of the parents. */
  readonly kept: readonly OwnedOutput[];
  readonly replaced: { readonly fee: bigint; readonly virtualBytes: number } | null;
  /** Rate that all of them together should pay, in sats for 1,000 virtual bytes; and the rate that they pay now. */
  readonly feeRate: bigint;
  readonly paidRate: bigint;
  /** Sats that each order of the parents may still cost. */
  readonly budgets: ReadonlyMap<string, bigint>;
  /** Sats that all orders together may still cost. */
  readonly most: bigint;
}

export interface BumpRules {
  /** Sats for 1,000 virtual bytes. */
  readonly mempoolMinFeeRate: bigint;
  readonly incrementalFeeRate: bigint;
}

export interface PlannedBump {
  readonly kind: 'bump';
  readonly plan: TransactionPlan;
  readonly fee: bigint;
  /** Sats of the fee that each order bears. */
  readonly shares: ReadonlyMap<string, bigint>;
  readonly coins: readonly OwnedOutput[];
  /** Reason why it does not pay the wanted rate; null: it pays that rate. */
  readonly limit: BumpLimit | null;
}

/**
 * Why a transaction does not pay more: the budgets of its orders are spent, no coin of ours is free, or free coins are
 * kept for what is owed to partners.
 */
export type BumpLimit = 'budget' | 'coins' | 'owed';

/** Coins of the service that may pay, beside the outputs of its orders. */
export interface PayingCoins {
  /** Free coins, which hold only sats. */
  readonly coins: readonly OwnedOutput[];
  /** Sats of all free coins beyond what must stay; negative: sats are missing. */
  readonly spare: bigint;
}

type Planned = PlannedBump | { readonly kind: 'none'; readonly limit: BumpLimit };

/** Least gain that is worth a transaction: a twentieth more. */
const leastGain = { of: 20n, more: 1n };

/**
 * Plans the child that pays for some transactions: it spends our outputs of them, and free coins if these outputs do
 * not hold enough, and keeps the rest. The ids of the parents do not change. It pays no more than the budgets allow,
 * and at least what a replacement must pay if a child exists already (BIP 125, rules 3, 4 and 6). Returns the limit if
 * no child can be made. Pure.
 *
 * Invariants: sats leave only as the fee; the shares add up to the fee, each within the budget of its order; what is
 * owed to customers stays; if it spends a coin of the service, the coins keep at least the sats that must stay.
 *
 * @param rest destination of the rest
 */
export function planBump(
  wanted: WantedBump,
  { coins, spare }: PayingCoins,
  rest: OwnDestination,
  rules: BumpRules,
): Planned {
  const { parents, kept, budgets } = wanted;
  const owed = owedOf(wanted);
  const budget = smallest(
    bumpFeeMax,
    wanted.most,
    [...budgets.values()].reduce((sum, budget) => sum + budget, 0n),
  );
  // our part of the rest is a coin above dust, or there is no output
  const reserve = owed + p2trDust;
  const own = [...parents.map(({ output }) => output), ...kept];
  // sats that the service keeps afterwards are at least those that must stay
  const beyond = largest(valueOf(own) - owed + spare, 0n);
  const chosen: OwnedOutput[] = [];
  const inputFee = feeOf(keyInputWeight, wanted.feeRate);
  const worth = coins.filter(({ value }) => value > inputFee);
  const bump = (funded: Omit<Funded, 'chosen'>): Planned =>
    bumpOf(wanted, { ...funded, chosen }, rest, rules);
  for (;;) {
    const inputs = [...own, ...chosen];
    const size = childSize(inputs, rest);
    const asked = wantedFee(wanted, size, rules);
    // outputs of the orders pay for their own delivery first
    const isOwnAlone = kept.length + chosen.length === 0;
    const most = isOwnAlone ? budget : smallest(budget, beyond);
    const fee = smallest(asked, most);
    const missing = fee + reserve - valueOf(inputs);
    if (missing <= 0n) return bump({ inputs, fee, asked, limit: most < budget ? 'owed' : 'budget' });
    const coin = nextCoin(worth, chosen, missing + inputFee);
    if (coin === null) return bump({ inputs, fee: fee - missing, asked, limit: 'coins' });
    // the input of a coin costs more than may be taken from it
    if (chosen.length === 0 && spare <= inputFee)
      return bump({ inputs, fee: fee - missing, asked, limit: 'owed' });
    chosen.push(coin);
  }
}

/** Sats of customers in the outputs of the parents. */
export const owedOf = ({ parents }: Pick<WantedBump, 'parents'>): bigint =>
  parents.reduce((sum, { owed }) => sum + owed, 0n);

/** The smallest coin that is enough, else the largest. */
function nextCoin(
  coins: readonly OwnedOutput[],
  chosen: readonly OwnedOutput[],
  needed: bigint,
): OwnedOutput | null {
  const free = coins
    .filter((coin) => !chosen.includes(coin))
    .toSorted((a, b) => (a.value < b.value ? -1 : a.value > b.value ? 1 : 0));
  return free.find(({ value }) => value >= needed) ?? free.at(-1) ?? null;
}

interface Funded {
  readonly inputs: readonly OwnedOutput[];
  readonly chosen: readonly OwnedOutput[];
  readonly fee: bigint;
  /** Fee that the wanted rate needs. */
  readonly asked: bigint;
  /** Reason for a lower fee. */
  readonly limit: BumpLimit;
}

function bumpOf(
  wanted: WantedBump,
  { inputs, chosen, fee, asked, limit }: Funded,
  rest: OwnDestination,
  rules: BumpRules,
): Planned {
  const size = childSize(inputs, rest);
  const { feeRate, paidRate } = wanted;
  const reached = reachedRate(wanted, fee, size);
  const isWorth = reached * leastGain.of >= paidRate * (leastGain.of + leastGain.more) || reached >= feeRate;
  if (fee < leastFee(wanted, size, rules) || !isWorth) return { kind: 'none', limit };
  const value = valueOf(inputs) - fee;
  const plan: TransactionPlan = {
    version: 2,
    lockTime: 0,
    inputs: inputs.map(inputOf),
    outputs: [{ kind: 'bump', value, ...rest }],
    feeMax: fee,
  };
  const owed = owedOf(wanted);
  const sent = inputs.map(({ holds }, input) => ({ input, holds, output: 0, runesTo: 0 }));
  assert(value >= owed + p2trDust, 'what is owed stays, and what is ours is no dust');
  const shares = sharesOf(wanted, fee);
  return {
    kind: 'bump',
    plan: withHoldings(plan, { sent, rest: 0 }),
    fee,
    shares,
    coins: chosen,
    limit: fee < asked ? limit : null,
  };
}

const inputOf = ({ txid, vout, value, script, key }: OwnedOutput): PlannedInput => ({
  txid,
  vout,
  value,
  script,
  sequence: replaceableSequence,
  // an anchor needs no signature, so its key is not used
  key: key ?? { branch: 1, index: 0 },
  leafScript: null,
  path: 'key',
});

const childSize = (inputs: readonly OwnedOutput[], rest: OwnDestination): number =>
  virtualSize(plannedWeight({ inputs: inputs.map(inputOf), outputs: [rest] }));

/** Fee and size of all transactions that the child pays for. */
function packageOf({ parents, ancestor }: WantedBump): { fee: bigint; virtualBytes: number } {
  return {
    fee: parents.reduce((sum, { fee }) => sum + fee, ancestor.fee),
    virtualBytes: parents.reduce((sum, { virtualBytes }) => sum + virtualBytes, ancestor.virtualBytes),
  };
}

function wantedFee(wanted: WantedBump, size: number, rules: BumpRules): bigint {
  const paid = packageOf(wanted);
  const fee = feeAt(paid.virtualBytes + size, wanted.feeRate) - paid.fee;
  return largest(fee, leastFee(wanted, size, rules));
}

/** Least fee that the node takes: that of the child by itself, and that of a replacement. */
function leastFee({ replaced }: WantedBump, size: number, rules: BumpRules): bigint {
  const relayed = feeAt(size, rules.mempoolMinFeeRate);
  if (replaced === null) return relayed;
  const more = replaced.fee + feeAt(size, rules.incrementalFeeRate);
  const higher = (replaced.fee * BigInt(size)) / BigInt(replaced.virtualBytes) + 1n;
  return largest(relayed, more, higher);
}

function reachedRate(wanted: WantedBump, fee: bigint, size: number): bigint {
  const paid = packageOf(wanted);
  return ((paid.fee + fee) * 1000n) / BigInt(paid.virtualBytes + size);
}

/** Divides the fee by how much each order's transactions lack, within the budgets. */
function sharesOf({ parents, feeRate, budgets }: WantedBump, fee: bigint): Map<string, bigint> {
  const shares = new Map<string, bigint>();
  let open = fee;
  while (open > 0n) {
    const able = [...budgets.keys()].filter((id) => (shares.get(id) ?? 0n) < (budgets.get(id) ?? 0n));
    assert(able.length > 0, 'the fee is within the budgets');
    const weights = new Map(able.map((id) => [id, lackOf(parents, id, feeRate)]));
    const all = [...weights.values()].reduce((sum, weight) => sum + weight, 0n);
    const round = open;
    for (const [id, weight] of weights) {
      const room = (budgets.get(id) ?? 0n) - (shares.get(id) ?? 0n);
      const part = smallest((round * weight + all - 1n) / all, room, open);
      shares.set(id, (shares.get(id) ?? 0n) + part);
      open -= part;
    }
  }
  return shares;
}

/** Sats that the transactions of an order lack to reach the rate; at least one, so that the order bears something. */
function lackOf(parents: readonly BumpedTransaction[], orderId: string, feeRate: bigint): bigint {
  const lack = parents
    .filter((parent) => parent.orderId === orderId)
    .reduce((sum, { virtualBytes, fee }) => sum + feeAt(virtualBytes, feeRate) - fee, 0n);
  return largest(lack, 1n);
}
