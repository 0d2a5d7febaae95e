import { AppError } from '#kernel/errors/app-error.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type Faulty, faulty } from '#kernel/requests/request-values.ts';
import { shownAmount } from '#kernel/runes/shown-amount.ts';
import { trustedU128 } from '#kernel/runes/u128.ts';
import { satsAsset } from '#purse/ledger/ledger.ts';
import { bitcoinToken, coinDecimals } from '#tokenpay/telling/token-order-answer.ts';
import type { NamedUnits } from './asked-units.ts';
import type { WithdrawalRefusal } from './planning/withdrawal-plan.ts';
import type { Withdrawal } from './withdrawal.ts';
import type { FeeRates, WithdrawalPolicy } from './withdrawal-policy.ts';
import type { AvailableUnits } from './withdrawals.store.ts';

/**
 * Maximum fee rate, in sats per 1,000 virtual bytes. No transaction is sent with a higher rate (ADR 79). The database
 * has the same bound.
 */
const feeRateMax = 200_000n;

/** The error for a missing balance. The text is the same as in the public interface (client-compat 2.3). */
export const noBalance = (more: string): AppError =>
  new AppError('token_balance_missing', 'user does not have a balance for this token', { more });

/** The amounts for the error of a missing balance: how much the account can withdraw, and how much is missing. */
export function lackingWords({ amount, shown }: Pick<NamedUnits, 'amount' | 'shown'>, left: bigint): string {
  const named = (units: bigint): string =>
    `${shownAmount(trustedU128(units), shown?.divisibility ?? coinDecimals)} ${shown?.name ?? bitcoinToken}`;
  const available = left > 0n ? left : 0n;
  return `available to withdraw: ${named(available)}; missing: ${named(amount - available)}. GET /tokenpay/user/account/balance shows what open withdrawals reserve.`;
}

/** The error for a withdrawal that cannot be cancelled. The reason depends on its state. */
export function notCancelled({ id, state, txid }: Withdrawal): AppError {
  const why =
    state === 'completed'
      ? 'its transaction is in a block'
      : state === 'error'
        ? 'it has ended, and its units are in the balance again'
        : `its transaction ${txid === null ? '' : `${displayHash(txid)} `}is signed and may be mined. It is sent until it is in a block, with a higher fee if it waits`;
  return new AppError(
    'tokenpay_withdrawal_refuses',
    `The withdrawal ${id} is ${state} and cannot be cancelled, because ${why}.`,
  );
}

/**
 * The fault if the account owes more than allowed, because a reorganisation took back units that had already left the
 * account. Returns null if it does not owe too much.
 */
export function owingFault(
  available: ReadonlyMap<number, AvailableUnits>,
  { debtMax }: Pick<WithdrawalPolicy, 'debtMax'>,
): Faulty | null {
  const owes = [...available].some(([asset, { amount }]) => amount < (asset === satsAsset ? -debtMax : 0n));
  return owes
    ? faulty(
        'token',
        'the account owes more than it may, because a reorganisation took back payments that the account had already withdrawn. GET /tokenpay/user/account/balance shows balances below 0. The account can withdraw again once these are paid.',
      )
    : null;
}

/** The parameter with the fault, and the reason, for a withdrawal that can never be sent in its current form. */
export function wordsOf(
  refusal: WithdrawalRefusal,
  { debtMax }: WithdrawalPolicy,
): [parameter: string, words: string] {
  switch (refusal.code) {
    case 'amount':
      return ['amount', 'amount cannot be withdrawn.'];
    case 'destination':
      return ['address', `the address ${refusal.reason}.`];
    case 'dust':
      return [
        'amount',
        `amount leaves ${refusal.sats} sats for the address, but nodes relay at least ${refusal.least} sats to it. Withdraw at least ${BigInt(refusal.least) - BigInt(refusal.sats)} sats more.`,
      ];
    case 'inputs':
      return [
        'amount',
        refusal.most === null
          ? `amount needs more than ${refusal.inputsMax} outputs that were paid to the account, and the sats of these outputs do not pay the fee. Withdraw a smaller amount.`
          : `amount needs more than ${refusal.inputsMax} outputs that were paid to the account. The largest ${refusal.inputsMax} outputs have only ${refusal.most} base units in total. Withdraw at most this amount first.`,
      ];
    case 'runestone':
      return [
        'token',
        `token needs a runestone of ${refusal.bytes} bytes, but nodes relay at most ${refusal.bytesMax}.`,
      ];
    case 'weight':
      return [
        'amount',
        `amount needs a transaction of ${refusal.weight} weight units, but nodes relay at most ${refusal.weightMax}.`,
      ];
    case 'own':
      return [
        'feeRate',
        "feeRate is below the node's present rate. Such a withdrawal spends only outputs that were paid to the account itself, and the free outputs are not enough. Send a higher feeRate, or leave feeRate out.",
      ];
    case 'sats':
      return [
        'amount',
        `amount needs sats for the miner and for the outputs with runes, but the account lacks ${refusal.missing} of these sats, beyond a debt of at most ${debtMax}.`,
      ];
  }
}

/** The reason why a fee rate is refused, or null if it is accepted. */
export function rateFault(
  asked: bigint | null,
  rate: bigint,
  { least, usual }: FeeRates,
  { feePayer }: Pick<WithdrawalPolicy, 'feePayer'>,
): Faulty | null {
  if (rate > feeRateMax) {
    const words = `must be at most ${feeRateMax / 1000n} sats per virtual byte, because no withdrawal is sent above that`;
    return faulty(
      'feeRate',
      asked === null ? `feeRate ${words}, but the node needs more now.` : `feeRate ${words}.`,
    );
  }
  if (feePayer === 'operator' && rate > usual)
    return faulty(
      'feeRate',
      `feeRate must be at most ${Number(usual) / 1000} sats per virtual byte, because the service pays no more than the node's present rate.`,
    );
  return rate < least
    ? faulty(
        'feeRate',
        `feeRate must be at least ${Number(least) / 1000} sats per virtual byte, because the node accepts no less now.`,
      )
    : null;
}
