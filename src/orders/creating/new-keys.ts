import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { DepositAddress } from '#orders/parents/deposits.store.ts';
import { areKnown } from '#purse/destinations/known-scripts.queries.ts';
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

/** These keys cannot be used. Thrown so that the transaction of the order is rolled back. */
class UnusableKeys extends Error {}

/**
 * A transaction that makes an order with keys for it and its deposits, whose addresses no one was shown before. It runs
 * again with later keys where an address is known already, as after a restore of an older database without the mark, or
 * where the release ended that they are of. Throws `wallet_indices_unreleased`.
 */
export async function withNewKeys<Made>(
  pool: pg.Pool,
  keys: OrderKeys,
  wanted: PlannedOrder,
  make: (tx: pg.ClientBase, own: NewKeys) => Promise<Made>,
): Promise<Made> {
  for (;;) {
    const taken = await keys.leases.take({ orders: 1 + wanted.terms.parents.length, own: 1 });
    const made = await keysAt(keys, wanted, taken.first);
    try {
      return await withTransaction(pool, async (tx) => {
        if (!(await keys.leases.confirm(tx, taken))) throw new UnusableKeys('their release has ended');
        if (await areKnown(tx, [made.charge, ...made.deposits]))
          throw new UnusableKeys('an address of the wallet was shown before');
        return make(tx, made);
      });
    } catch (error) {
      if (!(error instanceof UnusableKeys)) throw error;
    }
  }
}

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
