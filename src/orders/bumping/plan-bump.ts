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

/** An output of ours: P2TR with a key of branch 1, or an anchor, which has no key. */
export interface OwnedOutput {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Key of the output. Null if the output is an anchor. */
  readonly key: WalletKey | null;
  /** Contents in addition to sats. Absent if the output holds only sats. */
  readonly holds?: Holdings;
}

/** A transaction that a bump pays for, so that it is mined sooner. */
export interface BumpedTransaction {
  readonly orderId: string;
  readonly fee: bigint;
  readonly virtualBytes: number;
  /** Our output of the transaction. */
  readonly output: OwnedOutput;
  /** Sats of `output` that belong to a customer. They are kept in the change. */
  readonly owed: bigint;
}

/** Unconfirmed transactions that one child pays for, with the limits of the child. */
export interface WantedBump {
  readonly parents: readonly BumpedTransaction[];
  /** Fee and size of all unmined ancestors of the parents. */
  readonly ancestor: { readonly fee: bigint; readonly virtualBytes: number };
  /** Inputs of the replaced child that are not outputs of the parents. */
  readonly kept: readonly OwnedOutput[];
  readonly replaced: { readonly fee: bigint; readonly virtualBytes: number } | null;
  /**
   * Fee rate that parents, ancestors and child together should pay, in sats per 1,000 virtual bytes. `paidRate` is the
   * lowest rate that the parents pay now.
   */
  readonly feeRate: bigint;
  readonly paidRate: bigint;
  /** Remaining budget of each order of the parents, in sats. */
  readonly budgets: ReadonlyMap<string, bigint>;
  /** Remaining budget of all orders together, in sats. */
  readonly most: bigint;
}

export interface BumpRules {
  /** Both rates are in sats per 1,000 virtual bytes. */
  readonly mempoolMinFeeRate: bigint;
  readonly incrementalFeeRate: bigint;
}

export interface PlannedBump {
  readonly kind: 'bump';
  readonly plan: TransactionPlan;
  readonly fee: bigint;
  /** Sats of the fee that each order pays. */
  readonly shares: ReadonlyMap<string, bigint>;
  readonly coins: readonly OwnedOutput[];
  /** Reason why the bump does not reach the wanted rate. Null if it reaches the wanted rate. */
  readonly limit: BumpLimit | null;
}

/**
 * Why a bump does not pay more. `budget`: the budgets are used up. `coins`: there is no free coin. `owed`: the free
 * coins are needed for debts to partners.
 */
export type BumpLimit = 'budget' | 'coins' | 'owed';

/** Coins of the service that may pay for bumps, in addition to our outputs of the orders. */
export interface PayingCoins {
  /** Free coins. They contain only sats. */
  readonly coins: readonly OwnedOutput[];
  /** Sats of all free coins, less the sats that must be kept. Negative if sats are missing. */
  readonly spare: bigint;
}

type Planned = PlannedBump | { readonly kind: 'none'; readonly limit: BumpLimit };

/** Minimum increase of the rate that is worth a transaction. It is one twentieth (`more` / `of`). */
const leastGain = { of: 20n, more: 1n };

/**
 * Plans the child that pays for some transactions. The child spends our outputs of these transactions, and also free
 * coins if the outputs do not hold enough. The change goes back to us. The ids of the parents do not change. The child
 * pays no more than the budgets allow. If a child exists already, the new child pays at least what a replacement must
 * pay (BIP 125, rules 3, 4 and 6). Returns the limit if no child can be made. Pure.
 *
 * Invariants: only the fee leaves our scripts. The shares add up to the fee, and each share is within the budget of its
 * order. Sats that are owed to customers are kept. If the child spends a coin of the service, the coins of the service
 * keep at least the sats that must be kept.
 *
 * @param rest destination of the change
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
  // our part of the change must not be dust
  const reserve = owed + p2trDust;
  const own = [...parents.map(({ output }) => output), ...kept];
  // the fee may use only sats that the service does not have to keep
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
    // our outputs of the orders may always pay for the delivery of these orders, so `beyond` applies only if coins are
    // spent
    const isOwnAlone = kept.length + chosen.length === 0;
    const most = isOwnAlone ? budget : smallest(budget, beyond);
    const fee = smallest(asked, most);
    const missing = fee + reserve - valueOf(inputs);
    if (missing <= 0n) return bump({ inputs, fee, asked, limit: most < budget ? 'owed' : 'budget' });
    const coin = nextCoin(worth, chosen, missing + inputFee);
    if (coin === null) return bump({ inputs, fee: fee - missing, asked, limit: 'coins' });
    // a coin's input would cost more than the sats that may be taken from coins
    if (chosen.length === 0 && spare <= inputFee)
      return bump({ inputs, fee: fee - missing, asked, limit: 'owed' });
    chosen.push(coin);
  }
}

/** Sats of customers in the outputs of the parents. */
export const owedOf = ({ parents }: Pick<WantedBump, 'parents'>): bigint =>
  parents.reduce((sum, { owed }) => sum + owed, 0n);

/** The smallest unused coin that is enough, or else the largest; null if there is no unused coin. */
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
  /** Fee that is needed to reach the wanted rate. */
  readonly asked: bigint;
  /** Reason why the fee is lower than `asked`, if it is lower. */
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

/** Fee and size of all transactions that the child pays for, ancestors included. */
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

/**
 * Minimum fee that the node accepts for the child. If the child replaces another child, this is also the minimum for a
 * replacement.
 */
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

/** Divides the fee among the orders, in proportion to the sats that their transactions lack, within the budgets. */
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

/** Sats that the transactions of an order lack to reach the rate. At least 1, so that each order pays a share. */
function lackOf(parents: readonly BumpedTransaction[], orderId: string, feeRate: bigint): bigint {
  const lack = parents
    .filter((parent) => parent.orderId === orderId)
    .reduce((sum, { virtualBytes, fee }) => sum + feeAt(virtualBytes, feeRate) - fee, 0n);
  return largest(lack, 1n);
}
