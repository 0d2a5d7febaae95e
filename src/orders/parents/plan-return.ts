import { feeOf } from '#kernel/bitcoin/fee.ts';
import { keyInputWeight, plannedWeight } from '#kernel/bitcoin/plan-weight.ts';
import { dustOf } from '#kernel/bitcoin/transaction-size.ts';
import type { Holdings } from '#kernel/contracts/holdings.ts';
import type { PlannedOutput, TransactionPlan } from '#kernel/contracts/transaction-plan.ts';
import { routeRunestone } from '#kernel/runes/runestone/encipher.ts';
import { largest, p2trDust, valueOf } from '#orders/inscribing/plan-amounts.ts';
import { withHoldings } from '#orders/inscribing/plan-holdings.ts';
import {
  type Arrived,
  type OwnDestination,
  runestoneOutput,
  spent,
} from '#orders/inscribing/plan-transactions.ts';
import { runeRoute } from './rune-route.ts';

/** An output that is returned completely, with its destination. */
export interface ReturnedOutput extends Arrived {
  readonly destination: Uint8Array;
  readonly holds: Holdings;
}

/** Destination of the change of a customer's money. The kind is `refund` for payments, and `parent` for deposits. */
export interface RestDestination {
  readonly kind: 'refund' | 'parent';
  readonly script: Uint8Array;
}

export interface ReturnFunds {
  /**
   * Holdings to return. Only the last holding may be below the dust limit of its destination. Empty if only money is
   * returned.
   */
  readonly holdings: readonly ReturnedOutput[];
  /** Money that pays the fee, spent by key. The money holds only sats. */
  readonly money: readonly Arrived[];
  /** Destination of the change. Null if the change stays with the wallet. */
  readonly rest: RestDestination | null;
  readonly kept: OwnDestination;
  /** Whether the change belongs to the service. If so, the change stays with the wallet, and must be above dust. */
  readonly isOurs: boolean;
  /** Maximum cost of the return in sats of the money. Null if there is no maximum. */
  readonly costMax: bigint | null;
  /** Fee rate in sats per 1,000 virtual bytes. */
  readonly feeRate: bigint;
}

/** Sats that the money lacks, or by which the cost exceeds its maximum. */
export interface ReturnShort {
  readonly kind: 'short';
  readonly missing: bigint;
}

export type PlannedReturn = TransactionPlan & {
  readonly kind: 'return';
  /** Cost of the return, in sats of the money. */
  readonly cost: bigint;
};

/**
 * Plans the transaction that returns outputs with all their contents. Each output is an input, and the new output at
 * the same index has the same value, so every sat keeps its position. The last output is raised to the dust limit if
 * needed. The money comes after these inputs, so only its sats pay the fee. The change of the money goes to the owner
 * of the money, or stays with the wallet. Pure.
 */
export function planReturn(funds: ReturnFunds): PlannedReturn | ReturnShort {
  const { holdings, rest, kept, isOurs, costMax, feeRate } = funds;
  // coins that cost more than they hold are not used
  const money = funds.money.filter(({ value }) => value > feeOf(keyInputWeight, feeRate));
  const inputs = [...holdings, ...money].map((output) => spent(output, 'key'));
  const returned = holdings.map(
    ({ destination, value }): PlannedOutput => ({
      kind: 'parent',
      script: destination,
      value: largest(value, BigInt(dustOf(destination))),
    }),
  );
  const added = valueOf(returned) - valueOf(holdings);
  const route = runeRoute(
    holdings.map(({ holds }) => holds.runes),
    0,
  );
  const runestone = route === null ? null : routeRunestone(route);
  const stones: readonly PlannedOutput[] =
    runestone === null || holdings.length === 0 ? [] : [runestoneOutput(runestone)];
  const planned = (last: readonly PlannedOutput[]): PlannedReturn => {
    const outputs = [...returned, ...last, ...stones];
    const plan: TransactionPlan = {
      version: 2,
      lockTime: 0,
      inputs,
      outputs,
      feeMax: valueOf(inputs) - valueOf(outputs),
    };
    const sent = holdings.map(({ holds }, place) => ({ input: place, holds, output: place, runesTo: place }));
    return {
      ...withHoldings(plan, { sent, runestone, rest: runestone?.pointer ?? 0 }),
      kind: 'return',
      cost: valueOf(money) - valueOf(last),
    };
  };
  const restAfter = (outputs: readonly { readonly script: Uint8Array }[]): bigint =>
    valueOf(money) -
    added -
    feeOf(plannedWeight({ inputs, outputs: [...returned, ...outputs, ...stones] }), feeRate);
  const leastLeft = costMax === null ? 0n : valueOf(money) - costMax;
  if (rest !== null) {
    const value = restAfter([rest]);
    const least = largest(BigInt(dustOf(rest.script)), leastLeft);
    if (value >= least) return planned([{ ...rest, value }]);
    // money alone does not justify another transaction
    if (holdings.length === 0) return { kind: 'short', missing: least - value };
  }
  const least = largest(p2trDust, leastLeft);
  const value = restAfter([kept]);
  if (value >= least) return planned([{ kind: 'change', value, ...kept }]);
  if (isOurs || leastLeft > 0n) return { kind: 'short', missing: least - value };
  const bare = restAfter([]);
  return bare >= 0n ? planned([]) : { kind: 'short', missing: -bare };
}

/**
 * Plans the return of as many holdings as the money pays for. It tries all holdings first, then half of them, and so
 * on. `restOf` returns the destination of the change, which depends on whether all holdings are returned. Pure.
 */
export function planMostReturned(
  funds: Omit<ReturnFunds, 'rest'>,
  restOf: (areAll: boolean) => RestDestination | null,
): (PlannedReturn & { readonly count: number }) | ReturnShort {
  const { holdings } = funds;
  for (let count = holdings.length; ; count = Math.floor(count / 2)) {
    const rest = restOf(count === holdings.length);
    const plan = planReturn({ ...funds, holdings: holdings.slice(0, count), rest });
    if (plan.kind === 'return') return { ...plan, count };
    if (count <= 1) return plan;
  }
}
