/** Maximum numbers of items in unpaid orders, over all collections. */
export interface HoldBounds {
  /** Maximum for one client (COLLECTION_UNPAID_MAX). */
  readonly client: number;
  /** Maximum for all clients of one network (COLLECTION_UNPAID_NETWORK_MAX). */
  readonly network: number;
}

/**
 * Numbers of unpaid items: of one client and of its network in all collections, and of all clients in one collection.
 */
export interface UnpaidItems {
  readonly ofClient: number;
  readonly ofNetwork: number;
  readonly ofCollection: number;
}

/**
 * Returns why a client may not hold more items, or null if it may. Even a client that has thousands of addresses and
 * never pays can block only half of the remaining items, for half an hour. Pure.
 *
 * @param unsold number of items of the collection that are not paid for
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
    return `An order of this collection can have at most ${ever} items now. The limit is half of the items that are left, and the number of unpaid items that one client may have. Order fewer items.`;
  const again = 'Pay for an order, cancel one, or try again within 30 minutes.';
  if (unpaid.ofClient + count > bounds.client)
    return `Your orders have ${unpaid.ofClient} unpaid items, and may have at most ${bounds.client}. ${again}`;
  // an operator may set the bound of a client higher than that of a network; then the bound of the client applies to
  // both
  const network = Math.max(bounds.network, bounds.client);
  if (unpaid.ofNetwork + count > network)
    return `Orders of your network have ${unpaid.ofNetwork} unpaid items, and may have at most ${network}. Try again within 30 minutes.`;
  if (unpaid.ofCollection + count > most)
    return `Unpaid orders have ${unpaid.ofCollection} items, and may have at most ${most}, which is half of the items that are left. Try again in a few minutes.`;
  return null;
}

/** Maximum number of items in unpaid orders: half of the unsold items, but at least one. Pure. */
const unpaidMost = (unsold: number): number => Math.max(1, Math.floor(unsold / 2));
