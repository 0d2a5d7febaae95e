import type { HeldInscription, RuneAmount } from '#kernel/contracts/holdings.ts';
import { isInTime, type ParentsProgress, type Times } from '#orders/order/order-facts.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { DepositAddress } from './deposits.store.ts';

/** What somebody sent to the deposit address of a parent. */
export interface Deposit {
  /** Where it lies. */
  readonly at: DepositAddress;
  readonly payment: WatchedPayment;
  /**
   * `seen`: it is not as deep as is asked, or the index does not have its block. `here`: the index has the parent in it.
   * `other`: the index has its block, and the parent is not in it, or in too few sats to go on.
   */
  readonly state: 'gone' | 'seen' | 'here' | 'other';
  /** Less than nodes relay to where it goes home: it needs more sats for that. */
  readonly isDust: boolean;
  /** The index has an inscription or a rune in it. */
  readonly isHolding: boolean;
  /** The index has nothing that spends it. */
  readonly isUnspent: boolean;
  /** Inscriptions that the index has in it. */
  readonly inscriptions: readonly HeldInscription[];
  /** Null: not known here. */
  readonly runes: readonly RuneAmount[] | null;
}

/**
 * For each parent of an order the deposit that is it, or may be: what came in time and was not sent home. Undefined:
 * there is none.
 */
export function candidates(
  parents: number,
  deposits: readonly Deposit[],
  times: Times,
  sentHome: ReadonlySet<string>,
): (Deposit | undefined)[] {
  const open = deposits.filter(({ state, payment }) => {
    const { firstSeen, block } = payment;
    const seen = { isGone: state === 'gone', firstSeen, height: block?.height ?? null };
    return isInTime(seen, times) && !sentHome.has(outpointOf(payment));
  });
  return Array.from({ length: parents }, (_, index) => {
    const own = open.filter(({ at }) => at.index === index);
    return own.find(({ state }) => state === 'here') ?? own.find(({ state }) => state === 'seen');
  });
}

/** How far the parents are of which these are the candidates. */
export function progressOf(found: readonly (Deposit | undefined)[]): ParentsProgress {
  if (found.includes(undefined)) return 'missing';
  return found.every((deposit) => deposit?.state === 'here') ? 'here' : 'seen';
}
