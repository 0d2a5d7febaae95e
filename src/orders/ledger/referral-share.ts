import { smallest } from '#kernel/bitcoin/amount.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { LedgerAccount, Settlement } from '#purse/ledger/ledger.ts';

/** Sats that a delivered order owes the referral that it names. */
export interface ReferralShare {
  readonly code: string;
  /** Paid by the customer for it. */
  readonly additional: bigint;
  /** Taken from the service's own base fee. */
  readonly commission: bigint;
}

/** Accounts of outputs that are ours, those first that a share is taken from first. */
const ours = ['service', 'operator'] as const satisfies readonly LedgerAccount[];

/**
 * The settlements of a delivery with the share of a referral: two entries, of which the first was never revenue. The
 * sats are in our outputs all the same. Never more than these hold: where dust went back to the customer there may be
 * less than the share. Pure.
 */
export function withReferral(
  delivered: readonly Settlement[],
  { code, additional, commission }: ReferralShare,
): Settlement[] {
  let open = additional;
  let split = [...delivered];
  for (const account of ours) {
    split = split.map((settlement) => ({
      ...settlement,
      parts: settlement.parts.flatMap((part): Settlement['parts'] => {
        const taken = part.to === account ? smallest(part.sats, open) : 0n;
        open -= taken;
        return taken === 0n
          ? [part]
          : [
              { ...part, sats: part.sats - taken },
              { to: 'referral', owner: code, sats: taken },
            ];
      }),
    }));
  }
  const last = split.at(-1);
  if (last === undefined) return split;
  let due = commission;
  for (const account of ours) {
    const held = split.flatMap(({ parts }) => parts).filter(({ to }) => to === account);
    const taken = smallest(
      held.reduce((sum, { sats }) => sum + sats, 0n),
      due,
    );
    due -= taken;
    if (taken > 0n)
      split.push({
        txid: last.txid,
        from: account,
        parts: [{ to: 'referral', owner: code, sats: taken }],
      });
  }
  return split;
}

/**
 * The share of the referral of an order, as it was quoted: later settings change no order. What customers add for files that
 * are refunded goes back to them. Null: it names none.
 *
 * @param refunded files whose money is refunded, and not delivered
 */
export function shareOf(
  { request: { referral, count }, quote }: Pick<Order, 'request' | 'quote'>,
  refunded: number,
): ReferralShare | null {
  if (referral === null) return null;
  const additional = BigInt(quote.additionalFeeCharged);
  return {
    code: referral,
    additional: (additional * BigInt(count - refunded)) / BigInt(count),
    commission: BigInt(quote.referralFee ?? 0),
  };
}
