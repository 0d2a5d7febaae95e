/** Items that orders may have before they are paid for, of all collections together. */
export interface HoldBounds {
  /** Items of one client (COLLECTION_UNPAID_MAX). */
  readonly client: number;
  /** Items of all clients of one network (COLLECTION_UNPAID_NETWORK_MAX). */
  readonly network: number;
}

/** Who holds items, and what others and it have that is not paid for. */
export interface UnpaidItems {
  readonly ofClient: number;
  readonly ofNetwork: number;
  readonly ofCollection: number;
}

/**
 * Why a client may not hold more items; null: it may. Who has thousands of addresses and never pays closes half of
 * what is left for half an hour, and not all of it. Pure.
 *
 * @param unsold items of the collection that are not paid for
 */
export function holdProblem(
  count: number,
  unpaid: UnpaidItems,
  unsold: number,
  bounds: HoldBounds,
): string | null {
  const most = unpaidMost(unsold);
  const ever = Math.min(bounds.client, most);
  if (count > ever)
    return `An order of this collection can have ${ever} items now: half of what is left at most, and not more than one client may have unpaid. Order fewer.`;
  const again = 'Pay for one, cancel one, or try again within 30 minutes.';
  if (unpaid.ofClient + count > bounds.client)
    return `Your orders have ${unpaid.ofClient} items that are not paid for, and may have ${bounds.client}. ${again}`;
  // an operator who lets one address have more lets its network
  const network = Math.max(bounds.network, bounds.client);
  if (unpaid.ofNetwork + count > network)
    return `Orders of your network have ${unpaid.ofNetwork} items that are not paid for, and may have ${network}. Try again within 30 minutes.`;
  if (unpaid.ofCollection + count > most)
    return `Orders that are not paid yet may have half of what is left, ${most} items, and have ${unpaid.ofCollection}: try again in a few minutes.`;
  return null;
}

/**
 * Items that orders may have before they are paid for, of those that are not paid for: half of them, and one where
 * only one is left. Pure.
 */
const unpaidMost = (unsold: number): number => Math.max(1, Math.floor(unsold / 2));
