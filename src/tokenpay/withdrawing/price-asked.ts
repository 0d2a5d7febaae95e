import type pg from 'pg';
import { standardWeightMax } from '#kernel/bitcoin/transaction-size.ts';
import { type Faulty, faulty } from '#kernel/requests/request-values.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { coinDecimals } from '#tokenpay/telling/token-order-answer.ts';
import type { NamedUnits } from './asked-units.ts';
import { wordsOf } from './asking-faults.ts';
import { nameWithdrawals } from './name-withdrawals.ts';
import { quoteWithdrawal } from './planning/quote-withdrawal.ts';
import type { SentWithdrawal } from './read-withdrawal.ts';
import { type NewWithdrawal, reservedOf, type Withdrawal } from './withdrawal.ts';
import { readWithdrawalCoins } from './withdrawal-coins.ts';
import type { WithdrawalPolicy } from './withdrawal-policy.ts';
import type { AvailableUnits } from './withdrawals.store.ts';

interface PricingParts {
  readonly pool: pg.Pool;
  readonly policy: WithdrawalPolicy;
}

/** A withdrawal whose rune, address and rate are known. */
export interface PricedUnits extends NamedUnits {
  readonly script: Uint8Array;
  /** The fee rate for the price of the withdrawal, in sats per 1,000 virtual bytes. */
  readonly rate: bigint;
  /** Whether the rate is below the node's estimate. */
  readonly isSlow: boolean;
  readonly sent: SentWithdrawal;
}

/** Facts about an account that are needed for the price of a withdrawal. */
export interface PricedBeside {
  readonly available: ReadonlyMap<number, AvailableUnits>;
  /** Earlier withdrawals. These take coins first. */
  readonly before: readonly Withdrawal[];
}

/** A script of the type that changes have, which is P2TR. */
export const changeForm = Uint8Array.from([0x51, 0x20, ...Buffer.alloc(32)]);
/**
 * Number of OP_RETURN bytes that every node relays (MAX_OP_RETURN_RELAY before Bitcoin Core 30). One edict needs only
 * half of this number.
 */
const leastCarrierBytes = 83;

/**
 * Computes the price of a withdrawal at its fee rate. Returns the reason if the withdrawal cannot be sent in its
 * current form.
 */
export async function priceAsked(
  { pool, policy }: PricingParts,
  account: string,
  wanted: PricedUnits,
  { available, before }: PricedBeside,
): Promise<Pick<NewWithdrawal, 'fee' | 'postage' | 'payer'> | Faulty> {
  const { asset, amount, rune, script, rate: feeRate } = wanted;
  const { feeFrom } = wanted.sent;
  const { inputsMax, feePayer, debtMax } = policy;
  const coins = await readWithdrawalCoins(pool, {
    accounts: [account],
    limit: (inputsMax + 1) * (1 + before.length),
    assets: new Set([
      null,
      ...[asset, ...before.map((each) => each.asset)].filter((each) => each !== satsAsset),
    ]),
  });
  const quote = quoteWithdrawal({
    asked: { id: account, account, rune, units: amount, script },
    before: await nameWithdrawals(pool, before),
    coins,
    isOwnOnly: wanted.isSlow,
    feePayer,
    // the withdrawn sats include the fee, unless the account requests to pay the fee in addition
    balance: rune === null && feeFrom === 'withdrawal' ? amount : leftOf(available, satsAsset),
    debtMax,
    feeRate,
    change: changeForm,
    limits: { dataCarrierBytes: leastCarrierBytes, inputsMax, weightMax: standardWeightMax },
  });
  if (quote.kind === 'refused') return faulty(...wordsOf(quote, policy));
  const { fee, postage, payer } = quote;
  if (rune === null && feeFrom === 'balance' && payer === 'withdrawal')
    return faulty('feeFrom', beyondBalance(fee, leftOf(available, satsAsset)));
  return { fee, postage, payer };
}

/** The message if the balance is enough for the amount of BTC, but not for the additional fee. */
function beyondBalance(fee: bigint, left: bigint): string {
  const most = left - fee;
  const instead =
    most > 0n
      ? `With this fee, at most ${shownAmount(trustedU128(most), coinDecimals)} BTC are left. Withdraw at most this amount, or leave feeFrom out.`
      : 'Leave feeFrom out; the fee is then taken from the amount.';
  return `feeFrom: the balance lacks sats for a fee of ${fee} in addition to the amount. ${instead}`;
}

export const leftOf = (available: ReadonlyMap<number, AvailableUnits>, asset: number): bigint => {
  const found = available.get(asset);
  return found === undefined ? 0n : found.amount - found.reserved;
};

/** Sats that the account owes after a withdrawal is reserved. 0n means no debt. */
export function debtOf(wanted: NewWithdrawal, available: ReadonlyMap<number, AvailableUnits>): bigint {
  const taken = reservedOf(wanted).find(({ asset }) => asset === satsAsset)?.units ?? 0n;
  const left = leftOf(available, satsAsset) - taken;
  return taken > 0n && left < 0n ? -left : 0n;
}
