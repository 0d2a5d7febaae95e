import type { DepositAddress } from '#orders/parents/deposits.store.ts';
import type { WantedKeys } from '#purse/destinations/with-new-keys.ts';
import type { RuneAddress } from '#tokenpay/inscribing/ask-for-rune.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import type { Charge, OrderKeys, PlannedOrder } from './order-keys.ts';

/** Keys of a new order, and the addresses that the customer sees. */
export interface NewKeys {
  readonly keyIndex: number;
  readonly ownIndex: number;
  readonly charge: Charge;
  /** One deposit address for each parent, each with its own key. */
  readonly deposits: readonly DepositAddress[];
  /** Address for the rune payment. Null if the price is in sats only. */
  readonly rune: RuneAddress | null;
}

/** A planned order. `rune` is not null if the price includes a rune in addition to the sats. */
interface KeyedOrder extends PlannedOrder {
  readonly rune: object | null;
}

/** The keys that an order needs: for its payment address, for its deposits, and for its rune payment. */
export const newKeysOf = (keys: OrderKeys, wanted: KeyedOrder): WantedKeys<NewKeys> => ({
  counts: { orders: 1 + wanted.terms.parents.length + (wanted.rune === null ? 0 : 1), own: 1 },
  at: (first) => keysAt(keys, wanted, first),
  shown: ({ charge, deposits, rune }) => [charge, ...deposits, ...(rune === null ? [] : [rune])],
});

/** Derives the addresses of an order from the first free key indices. */
async function keysAt(
  keys: OrderKeys,
  wanted: KeyedOrder,
  { orders: keyIndex, own: ownIndex }: BranchEnds,
): Promise<NewKeys> {
  const charge = await keys.charge(keyIndex, wanted);
  const deposits = wanted.terms.parents.map((_, index) => {
    const ofDeposit = keyIndex + 1 + index;
    return { index, keyIndex: ofDeposit, ...keys.deposit(ofDeposit) };
  });
  const ofRune = keyIndex + 1 + deposits.length;
  const rune = wanted.rune === null ? null : { keyIndex: ofRune, ...keys.deposit(ofRune) };
  return { keyIndex, ownIndex, charge, deposits, rune };
}
