import type { DepositAddress } from '#orders/parents/deposits.store.ts';
import type { WantedKeys } from '#purse/destinations/with-new-keys.ts';
import type { RuneAddress } from '#tokenpay/inscribing/ask-for-rune.ts';
import type { BranchEnds } from '#wallet/indices/branch-ends.ts';
import type { Charge, OrderKeys, PlannedOrder } from './order-keys.ts';

/** Keys of a new order, and the addresses that its customer is shown. */
export interface NewKeys {
  readonly keyIndex: number;
  readonly ownIndex: number;
  readonly charge: Charge;
  /** One for each parent, with a key of its own. */
  readonly deposits: readonly DepositAddress[];
  /** Null: it asks for sats alone. */
  readonly rune: RuneAddress | null;
}

/** A planned order, and whether a rune is paid for it beside its sats. */
interface KeyedOrder extends PlannedOrder {
  readonly rune: object | null;
}

/** The keys that an order needs: for itself, its deposits, and the rune that is paid for it. */
export const newKeysOf = (keys: OrderKeys, wanted: KeyedOrder): WantedKeys<NewKeys> => ({
  counts: { orders: 1 + wanted.terms.parents.length + (wanted.rune === null ? 0 : 1), own: 1 },
  at: (first) => keysAt(keys, wanted, first),
  shown: ({ charge, deposits, rune }) => [charge, ...deposits, ...(rune === null ? [] : [rune])],
});

/** The addresses of the first keys. */
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
