/**
 * How far a charge is. `pending_payment`: nothing that counts was seen. `payment_seen`: something is in the mempool or a
 * block, and not enough of it is as deep as the policy asks. `completed`: enough is. `expired`: the time is over, and
 * nothing waits that came in time.
 */
export const chargeStates = ['pending_payment', 'payment_seen', 'completed', 'expired'] as const;
export type ChargeState = (typeof chargeStates)[number];

/** How far an order is. Clients act on `completed` and `error` alone (client-compat 3.14). */
export const tokenOrderStates = ['pending', 'completed', 'error'] as const;
export type TokenOrderState = (typeof tokenOrderStates)[number];

/** The facts that decide about a charge. Amounts are in base units. */
export interface ChargeFacts {
  readonly amount: bigint;
  /** The units of its token that are credited, of payments that were first seen in time. */
  readonly credited: bigint;
  /** A payment that came in time is in the mempool, or in a block and not credited yet. */
  readonly isWaiting: boolean;
}

/** Pure. */
export function chargeState({ amount, credited, isWaiting }: ChargeFacts, isTimeOver: boolean): ChargeState {
  if (credited >= amount) return 'completed';
  if (isWaiting) return 'payment_seen';
  if (isTimeOver) return 'expired';
  return credited > 0n ? 'payment_seen' : 'pending_payment';
}

/**
 * The state of an order by its charges. `error` is for good: a shop has told its customer by then, and what comes later
 * is credited to its account. A reorganisation makes a completed order `pending` again. Pure.
 */
export function tokenOrderState(before: TokenOrderState, charges: readonly ChargeState[]): TokenOrderState {
  if (before === 'error' || charges.includes('expired')) return 'error';
  return charges.every((state) => state === 'completed') ? 'completed' : 'pending';
}
