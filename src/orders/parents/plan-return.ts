import { keyInputWeight, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { feeOf, largest, p2trDust, valueOf } from '#orders/inscribing/plan-amounts.ts';
import { type Arrived, type OwnDestination, spent } from '#orders/inscribing/plan-transactions.ts';
import { type HeldRune, type RuneRoute, runeRoute } from './rune-route.ts';

/** What lies at a deposit, and where it goes. */
export interface Homeless extends Arrived {
  readonly home: Uint8Array;
  /** Null: not known. */
  readonly runes: readonly HeldRune[] | null;
}

export interface ReturnFunds {
  /** Only the last one may be less than nodes relay to its home. */
  readonly deposits: readonly Homeless[];
  /** What pays the fee, spent by key. */
  readonly money: readonly Arrived[];
  /** Where the rest of a customer's money goes; null: it stays. */
  readonly refundScript: Uint8Array | null;
  readonly kept: OwnDestination;
  /** Of our own money at least this much must stay; null: it is a customer's. */
  readonly ours: bigint | null;
  readonly runestone: (route: RuneRoute) => Uint8Array;
  /** Sats for 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

/** Sats that the money lacks. */
export interface ReturnShort {
  readonly kind: 'short';
  readonly missing: bigint;
}

export type PlannedReturn = TransactionPlan & { readonly kind: 'return' };

/**
 * The transaction that sends deposits home with all that they hold: each is an input, and the output of the same place
 * with the same value, so every sat stays in its place; the last one gets what nodes ask for, where it brought less. Money of
 * the order alone pays for it; what is left of that goes back with it, or stays where it would be dust. Pure.
 */
export function planReturn(funds: ReturnFunds): PlannedReturn | ReturnShort {
  const { deposits, refundScript, kept, ours, runestone, feeRate } = funds;
  // of coins that cost more than they hold none helps
  const money = funds.money.filter(({ value }) => value > feeOf(keyInputWeight, feeRate));
  const inputs = [...deposits, ...money].map((output) => spent(output, 'key'));
  const homes = deposits.map(
    ({ home, value }): PlannedOutput => ({
      kind: 'parent',
      script: home,
      value: largest(value, BigInt(dustOf(home))),
    }),
  );
  const added = valueOf(homes) - valueOf(deposits);
  const route = runeRoute(
    deposits.map(({ runes }) => runes),
    0,
  );
  const stones: readonly PlannedOutput[] =
    route === null ? [] : [{ kind: 'burn', script: runestone(route), value: 0n }];
  const planned = (rest: readonly PlannedOutput[]): PlannedReturn => {
    const outputs = [...homes, ...rest, ...stones];
    return {
      kind: 'return',
      version: 2,
      lockTime: 0,
      inputs,
      outputs,
      feeMax: valueOf(inputs) - valueOf(outputs),
    };
  };
  const restAfter = (outputs: readonly { readonly script: Uint8Array }[]): bigint =>
    valueOf(money) -
    added -
    feeOf(plannedWeight({ inputs, outputs: [...homes, ...outputs, ...stones] }), feeRate);
  if (refundScript !== null && ours === null) {
    const value = restAfter([{ script: refundScript }]);
    if (value >= BigInt(dustOf(refundScript)))
      return planned([{ kind: 'refund', script: refundScript, value }]);
  }
  const least = largest(p2trDust, ours ?? 0n);
  const value = restAfter([kept]);
  if (value >= least) return planned([{ kind: 'change', value, ...kept }]);
  if (ours !== null) return { kind: 'short', missing: least - value };
  const bare = restAfter([]);
  return bare >= 0n ? planned([]) : { kind: 'short', missing: -bare };
}
