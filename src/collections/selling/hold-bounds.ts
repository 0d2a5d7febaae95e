/** Items that orders may have before they are paid for, over all collections. */
export interface HoldBounds {
  /** Items of one client (COLLECTION_UNPAID_MAX). */
  readonly client: number;
  /** Items of all clients of one network (COLLECTION_UNPAID_NETWORK_MAX). */
  readonly network: number;
}

/** A client that holds items, and the unpaid items of others and its own. */
export interface UnpaidItems {
  readonly ofClient: number;
  readonly ofNetwork: number;
  readonly ofCollection: number;
}

/**
 * Why a client may not hold more items; null: it may. A client with thousands of addresses that never pays can block
 * half of the remaining items for half an hour, and not all of them. Pure.
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
    return `An order of this collection can have ${ever} items now: at most half of what is left, and at most the unpaid items that one client may have. Order fewer.`;
  const again = 'Pay for one, cancel one, or try again within 30 minutes.';
  if (unpaid.ofClient + count > bounds.client)
    return `Your orders have ${unpaid.ofClient} items that are not paid for, and may have ${bounds.client}. ${again}`;
  // an operator who allows one address more allows its network the same
  const network = Math.max(bounds.network, bounds.client);
  if (unpaid.ofNetwork + count > network)
    return `Orders of your network have ${unpaid.ofNetwork} items that are not paid for, and may have ${network}. Try again within 30 minutes.`;
  if (unpaid.ofCollection + count > most)
    return `Orders that are not paid yet may have half of what is left, ${most} items, and have ${unpaid.ofCollection}: try again in a few minutes.`;
  return null;
}

/** Number of unsold items that unpaid orders may have: half of them, and one if only one is left. Pure. */
const unpaidMost = (unsold: number): number => Math.max(1, Math.floor(unsold / 2));
