import type pg from 'pg';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { DepositAddress } from '#orders/parents/deposits.store.ts';
import { areKnown } from './known-scripts.queries.ts';
import type { Charge, OrderKeys, PlannedOrder } from './order-keys.ts';

/** Keys of a new order, and the addresses that its customer is shown. */
export interface NewKeys {
  readonly keyIndex: number;
  readonly ownIndex: number;
  readonly charge: Charge;
  /** One for each parent, with a key of its own. */
  readonly deposits: readonly DepositAddress[];
}

/** An address of these keys was paid or shown before. Thrown so that the transaction of the order is rolled back. */
class KnownKeys extends Error {
  /** The first index of orders beyond them. */
  readonly until: number;

  constructor(until: number) {
    super('an address of the wallet was shown before');
    this.until = until;
  }
}

/**
 * Takes keys for an order and its deposits, whose addresses no one was shown before. Throws
 * `wallet_indices_unreleased`, and within `withUnknownKeys` alone what makes it take later ones.
 */
export async function newKeys(tx: pg.ClientBase, keys: OrderKeys, wanted: PlannedOrder): Promise<NewKeys> {
  const count = 1 + wanted.terms.parents.length;
  const { orders: keyIndex, own: ownIndex } = await keys.take(tx, { orders: count, own: 1 });
  const charge = await keys.charge(keyIndex, wanted);
  const deposits = wanted.terms.parents.map((_, index) => {
    const ofDeposit = keyIndex + 1 + index;
    return { index, keyIndex: ofDeposit, ...keys.deposit(ofDeposit) };
  });
  if (await areKnown(tx, [charge, ...deposits])) throw new KnownKeys(keyIndex + count);
  return { keyIndex, ownIndex, charge, deposits };
}

/**
 * A transaction that takes keys by `newKeys`. It runs again with later keys where an address of its keys is known
 * already, as after a restore of an older database without the mark: these are passed over for good.
 */
export async function withUnknownKeys<Made>(
  pool: pg.Pool,
  keys: OrderKeys,
  make: (tx: pg.ClientBase) => Promise<Made>,
): Promise<Made> {
  for (;;) {
    try {
      return await withTransaction(pool, make);
    } catch (error) {
      if (!(error instanceof KnownKeys)) throw error;
      await keys.passOver(pool, error.until);
    }
  }
}
