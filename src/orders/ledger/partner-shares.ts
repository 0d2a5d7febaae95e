import { smallest } from '#kernel/bitcoin/amount.ts';
import type { Order } from '#orders/order/order.store.ts';
import { storedItems } from '#orders/order/stored-terms.ts';
import type { LedgerAccount, PartnerAccount, Settlement } from '#purse/ledger/ledger.ts';

/** Sats that a delivered order owes a partner. A partner is the order's referral, or the creator of its collection. */
export interface PartnerShare {
  readonly account: PartnerAccount;
  /** The code of the referral, or the address of the creator. */
  readonly owner: string;
  /** Sats that the customer paid for the partner, in addition to the service's fees. */
  readonly additional: bigint;
  /** Sats that are taken from the service's base fee. */
  readonly commission: bigint;
}

/** Accounts of our outputs. Shares are taken from them in this sequence. */
const ours = ['service', 'operator'] as const satisfies readonly LedgerAccount[];

/** Takes the shares of the partners out of the settlements of a delivery, one share after the other. Pure. */
export const withShares = (
  delivered: readonly Settlement[],
  shares: readonly PartnerShare[],
): readonly Settlement[] => shares.reduce(withShare, delivered);

/**
 * Takes one share out of the settlements of a delivery, in two steps. `additional` is booked directly to the partner,
 * because it was never revenue; `commission` is taken from the revenue. The sats stay in our outputs. A share never
 * exceeds these outputs. They may contain less than the share if dust went back to the customer.
 */
function withShare(
  delivered: readonly Settlement[],
  { account: partner, owner, additional, commission }: PartnerShare,
): readonly Settlement[] {
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
              { to: partner, owner, sats: taken },
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
        parts: [{ to: partner, owner, sats: taken }],
      });
  }
  return split;
}

/**
 * Shares of an order's partners, as quoted. Settings that change later do not change an order. Shares for refunded
 * files or mints go back to the customer. Pure.
 *
 * @param refunded files or mints that are refunded and not delivered
 */
export function sharesOf(
  { request: { referral }, quote, terms }: Pick<Order, 'request' | 'quote' | 'terms'>,
  refunded: number,
): readonly PartnerShare[] {
  const items = storedItems(terms);
  const delivered = BigInt(items - refunded);
  const shares: PartnerShare[] = [];
  if (quote.creator !== undefined)
    shares.push({
      account: 'creator',
      owner: quote.creator.address,
      additional: BigInt(quote.creator.price) * delivered,
      commission: 0n,
    });
  if (referral !== null)
    shares.push({
      account: 'referral',
      owner: referral,
      additional: (BigInt(quote.additionalFeeCharged) * delivered) / BigInt(items),
      commission: BigInt(quote.referralFee ?? 0),
    });
  return shares;
}
