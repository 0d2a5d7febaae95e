import type { HeldInscription, RuneAmount } from '#kernel/contracts/holdings.ts';
import { isInTime, type ParentsProgress, type Times } from '#orders/order/order-facts.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { DepositAddress } from './deposits.store.ts';

/** An output that was sent to the deposit address of a parent. */
export interface Deposit {
  /** The deposit address at which the output arrived. */
  readonly at: DepositAddress;
  readonly payment: WatchedPayment;
  /**
   * `seen`: the output is not deep enough yet, or the index does not have its block. `here`: the index has the parent
   * in this output. `other`: the index has the block, but the parent is not in the output, or the output has too few
   * sats to be returned.
   */
  readonly state: 'gone' | 'seen' | 'here' | 'other';
  /** Whether the output is below the dust limit of its return address, so it needs more sats. */
  readonly isDust: boolean;
  /** Whether the index has an inscription or a rune in the output. */
  readonly isHolding: boolean;
  /** Whether the index has no transaction that spends the output. */
  readonly isUnspent: boolean;
  /** Inscriptions in the output, from the index. */
  readonly inscriptions: readonly HeldInscription[];
  /** Runes in the output. Null if they are unknown in this index. */
  readonly runes: readonly RuneAmount[] | null;
}

/**
 * For each parent of an order, the deposit that is or may be the parent. The deposit arrived in time and was not
 * returned. Undefined if there is no such deposit.
 */
export function candidates(
  parents: number,
  deposits: readonly Deposit[],
  times: Times,
  returned: ReadonlySet<string>,
): (Deposit | undefined)[] {
  const open = deposits.filter(({ state, payment }) => {
    const { firstSeen, block } = payment;
    const seen = { isGone: state === 'gone', firstSeen, height: block?.height ?? null };
    return isInTime(seen, times) && !returned.has(outpointOf(payment));
  });
  return Array.from({ length: parents }, (_, index) => {
    const own = open.filter(({ at }) => at.index === index);
    return own.find(({ state }) => state === 'here') ?? own.find(({ state }) => state === 'seen');
  });
}

/** Progress of an order's parents, computed from their candidates. */
export function progressOf(found: readonly (Deposit | undefined)[]): ParentsProgress {
  if (found.includes(undefined)) return 'missing';
  return found.every((deposit) => deposit?.state === 'here') ? 'here' : 'seen';
}
