export interface OrderPolicy {
  /**
   * Numbers of confirmations that a payment needs, in steps. A step applies from the amount `from` on. The steps are
   * sorted by `from`, ascending.
   */
  readonly confirmations: readonly { readonly from: bigint; readonly confirmations: number }[];
  /** Confirmations that a reveal needs before its order is complete. */
  readonly finalConfirmations: number;
}

/**
 * The confirmations of the highest step at or below an amount. At least 1, because unconfirmed money is never spent.
 */
export function confirmationsFor({ confirmations }: OrderPolicy, amount: bigint): number {
  const step = confirmations.findLast(({ from }) => from <= amount);
  return Math.max(1, step?.confirmations ?? 1);
}

/** Reads `sats:confirmations,…`. Returns null if the amounts are not ascending. */
export function parseConfirmations(text: string): OrderPolicy['confirmations'] | null {
  const steps = text.split(',').map((part) => {
    const [from = '', confirmations = ''] = part.split(':');
    return { from: BigInt(from), confirmations: Number(confirmations) };
  });
  const isAscending = steps.every(({ from }, place) => place === 0 || from > (steps[place - 1]?.from ?? 0n));
  return isAscending ? steps : null;
}
