/**
 * State of a charge:
 *
 * - `pending_payment`: no valid payment was seen.
 * - `payment_seen`: a payment is in the mempool or in a block, but the amount that is as deep as the policy requires is
 *   too small.
 * - `completed`: the entire amount is deep enough.
 * - `expired`: the time is over, and no payment that came in time is waiting.
 */
export const chargeStates = ['pending_payment', 'payment_seen', 'completed', 'expired'] as const;
export type ChargeState = (typeof chargeStates)[number];

/** The state of an order. Clients act only on `completed` and `error` (client-compat 3.14). */
export const tokenOrderStates = ['pending', 'completed', 'error'] as const;
export type TokenOrderState = (typeof tokenOrderStates)[number];

/** The facts that determine the state of a charge. Amounts are in base units. */
export interface ChargeFacts {
  readonly amount: bigint;
  /** Credited units of the charge's token from payments that were first seen in time. */
  readonly credited: bigint;
  /** Whether a payment that came in time is in the mempool, or is in a block but not credited yet. */
  readonly isWaiting: boolean;
}

/** Computes the state of a charge from its facts. Pure. */
export function chargeState({ amount, credited, isWaiting }: ChargeFacts, isTimeOver: boolean): ChargeState {
  if (credited >= amount) return 'completed';
  if (isWaiting) return 'payment_seen';
  if (isTimeOver) return 'expired';
  return credited > 0n ? 'payment_seen' : 'pending_payment';
}

/**
 * Computes the state of an order from the states of its charges. `error` is final, because the shop has already told
 * its customer. Later payments are credited to the account. A reorganisation makes a completed order `pending` again.
 * Pure.
 */
export function tokenOrderState(before: TokenOrderState, charges: readonly ChargeState[]): TokenOrderState {
  if (before === 'error' || charges.includes('expired')) return 'error';
  return charges.every((state) => state === 'completed') ? 'completed' : 'pending';
}
