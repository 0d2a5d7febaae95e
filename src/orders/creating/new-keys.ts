import type { DepositAddress } from '#orders/parents/deposits.store.ts';
import type { WantedKeys } from '#purse/destinations/with-new-keys.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import type { Charge, OrderKeys, PlannedOrder } from './order-keys.ts';

/** Keys of a new order, and the addresses that its customer is shown. */
export interface NewKeys {
  readonly keyIndex: number;
  readonly ownIndex: number;
  readonly charge: Charge;
  /** One for each parent, with a key of its own. */
  readonly deposits: readonly DepositAddress[];
}

/** The keys that an order needs: for itself and its deposits. */
export const newKeysOf = (keys: OrderKeys, wanted: PlannedOrder): WantedKeys<NewKeys> => ({
  counts: { orders: 1 + wanted.terms.parents.length, own: 1 },
  at: (first) => keysAt(keys, wanted, first),
  shown: ({ charge, deposits }) => [charge, ...deposits],
});

/** The addresses of the first keys. */
async function keysAt(
  keys: OrderKeys,
  wanted: PlannedOrder,
  { orders: keyIndex, own: ownIndex }: BranchEnds,
): Promise<NewKeys> {
  const charge = await keys.charge(keyIndex, wanted);
  const deposits = wanted.terms.parents.map((_, index) => {
    const ofDeposit = keyIndex + 1 + index;
    return { index, keyIndex: ofDeposit, ...keys.deposit(ofDeposit) };
  });
  return { keyIndex, ownIndex, charge, deposits };
}
