import assert from 'node:assert/strict';
import { replaceableSequence } from '#kernel/bitcoin/consensus.ts';
import { feeAt, feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { virtualSize } from '#kernel/bitcoin/transaction-size.ts';
import type {
  PlannedInput,
  PlannedOutput,
  TransactionPlan,
  WalletKey,
} from '#kernel/contracts/transaction-plan.ts';
import type { Txid } from '#kernel/primitives/hash.ts';
import { largest, p2trDust, valueOf } from '#orders/inscribing/plan-amounts.ts';
import type { OwnDestination } from '#orders/inscribing/plan-transactions.ts';
import type { Recipient } from '#payouts/payout/payout.ts';

/** A coin of the service's own keys that holds only sats. */
export interface PayoutCoin {
  readonly txid: Txid;
  readonly vout: number;
  readonly value: bigint;
  readonly script: Uint8Array;
  /** Key index in branch 1. */
  readonly keyIndex: number;
}

/** An output of the wallet that is sent to the recipient as a whole, with its inscriptions and runes. */
export interface WholeOutput extends Omit<PayoutCoin, 'keyIndex'> {
  readonly key: WalletKey;
}

export interface WantedPayout {
  /**
   * The first input of the transaction, whose sats go to the only recipient. If it is absent or null, free coins pay
   * everything.
   */
  readonly whole?: WholeOutput | null;
  readonly recipients: readonly Recipient[];
  /**
   * Coins that earlier transactions of the payout spend. The new transaction spends them again, so at most one of these
   * transactions is mined.
   */
  readonly kept: readonly PayoutCoin[];
  /** The transaction to replace, or null if no node has an earlier transaction. */
  readonly replaced: { readonly fee: bigint; readonly virtualBytes: number } | null;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

export interface PayoutRules {
  /** Minimum fee rate of the mempool in sats per 1,000 virtual bytes. */
  readonly mempoolMinFeeRate: bigint;
  readonly incrementalFeeRate: bigint;
}

export type PlannedPayout =
  | {
      readonly kind: 'plan';
      readonly plan: TransactionPlan;
      readonly fee: bigint;
      readonly spent: readonly PayoutCoin[];
    }
  /**
   * No plan is possible. `coins`: the free coins are `missing` sats short. `size`: the coins are so small that the
   * transaction would be too large. `rate`: fees are too high now.
   */
  | { readonly kind: 'none'; readonly limit: 'coins' | 'size' | 'rate'; readonly missing: bigint };

/**
 * Maximum fee rate of a payout, in sats per 1,000 virtual bytes. A payout is not urgent, so it waits for lower fees.
 * Fees above 200 sat/vB have never lasted longer than some days.
 */
export const payoutFeeRateMax = 200_000n;

/**
 * Maximum size of a payout in virtual bytes. It is a quarter of the size that nodes relay (MAX_STANDARD_TX_WEIGHT), so
 * that the cluster has room for transactions that spend the payout's change.
 */
export const payoutVirtualBytesMax = 100_000;

/**
 * Maximum number of outputs of one payout. 1,000 outputs have 43,000 virtual bytes, and signing takes much less than
 * a minute. The remaining size is enough for 990 inputs.
 */
export const recipientsMax = 1000;

/**
 * Plans the transaction that pays recipients. It spends the coins of earlier transactions of the payout, then further
 * coins in the given order. The first output is the change, which also gets everything that the plan does not name. The
 * fee is paid from the change, never from a recipient's sats.
 *
 * If an output is sent as a whole, it is the first input, and its recipient gets the first output. The recipient then
 * also gets the output's inscriptions, and its runes unless a runestone moves them. Pure.
 *
 * Invariants: no sat appears or disappears except the fee; each recipient gets its sats; the change is not dust.
 *
 * @param coins free coins
 * @param rest receiver of the change
 */
export function planPayout(
  { whole = null, recipients, kept, replaced, feeRate }: WantedPayout,
  coins: readonly PayoutCoin[],
  rest: OwnDestination,
  rules: PayoutRules,
): PlannedPayout {
  const none = (limit: 'coins' | 'size' | 'rate', missing = 0n): PlannedPayout => ({
    kind: 'none',
    limit,
    missing,
  });
  if (largest(feeRate, rules.mempoolMinFeeRate) > payoutFeeRateMax) return none('rate');
  const rate = largest(feeRate, rules.mempoolMinFeeRate);
  const { first, paid, besides } = namedParts(whole, recipients);
  const worth = coins.filter(({ value }) => value > feeOf(keyInputWeight, rate));
  const spent = [...kept];
  for (let nth = 0; ; nth++) {
    const inputs = [...first, ...spent.map(ofService)];
    const size = virtualSize(plannedWeight({ inputs, outputs: [rest, ...paid] }));
    if (size > payoutVirtualBytesMax) return none('size');
    const fee = feeFor(size, rate, replaced, rules);
    if (fee > feeAt(size, payoutFeeRateMax)) return none('rate');
    const value = valueOf(inputs) - valueOf(paid) - fee;
    if (value >= p2trDust) {
      const outputs = besides({ kind: 'change', value, ...rest });
      return { kind: 'plan', plan: { version: 2, lockTime: 0, inputs, outputs, feeMax: fee }, fee, spent };
    }
    const coin = worth[nth];
    if (coin === undefined) return none('coins', p2trDust - value);
    spent.push(coin);
  }
}

/** The parts of a plan that are the same for any coins. */
interface NamedParts {
  readonly first: readonly PlannedInput[];
  readonly paid: readonly PlannedOutput[];
  /** Returns the outputs: the given change and the outputs of the recipients. */
  readonly besides: (change: PlannedOutput) => PlannedOutput[];
}

function namedParts(whole: WholeOutput | null, recipients: readonly Recipient[]): NamedParts {
  assert(recipients.length > 0 && recipients.length <= recipientsMax, 'a payout has at least one recipient');
  const kind = whole === null ? 'payout' : 'aside';
  const paid = recipients.map(({ script, sats }): PlannedOutput => ({ kind, script, value: sats }));
  if (whole === null) return { first: [], paid, besides: (change) => [change, ...paid] };
  assert(
    paid.length === 1 && valueOf(paid) === whole.value,
    'one recipient gets all of an output that goes as a whole',
  );
  return { first: [inputOf(whole)], paid, besides: (change) => [...paid, change] };
}

/** The fee at a rate. A replacement pays at least its minimum fee (BIP 125, rules 3, 4 and 6). */
function feeFor(
  size: number,
  rate: bigint,
  replaced: WantedPayout['replaced'],
  { incrementalFeeRate }: PayoutRules,
): bigint {
  const fee = feeAt(size, rate);
  if (replaced === null) return fee;
  const more = replaced.fee + feeAt(size, incrementalFeeRate);
  const higher = (replaced.fee * BigInt(size)) / BigInt(replaced.virtualBytes) + 1n;
  return largest(fee, more, higher);
}

const ofService = ({ keyIndex, ...coin }: PayoutCoin): PlannedInput =>
  inputOf({ ...coin, key: { branch: 1, index: keyIndex } });

const inputOf = ({ txid, vout, value, script, key }: WholeOutput): PlannedInput => ({
  txid,
  vout,
  value,
  script,
  sequence: replaceableSequence,
  key,
  leafScript: null,
  path: 'key',
});
