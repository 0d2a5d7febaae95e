import { expect } from 'vitest';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { networks } from '#kernel/primitives/network.ts';
import { afterPayment, type PaymentOutcome, type WantedPayment } from '#orders/paying/after-payment.ts';
import { findOpenOrder, type WantedOrderName } from '#orders/paying/find-open-order.ts';
import type { FoundOrder, OpenOrder, PayingCoin } from '#orders/paying/open-order.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import type { OrderWorld } from '#test/support/orders/order-world.ts';
import { regtestSatributes } from '#test/support/regtest-satributes.ts';

type World = Pick<OrderWorld, 'database' | 'customerOrders'>;

/** Finds an order like the builder of payments does. */
export const findOrder = ({ database }: World, wanted: WantedOrderName): Promise<FoundOrder> =>
  withTransaction(database.pool, (client) => findOpenOrder(client, networks.regtest, wanted));

/** Finds an order that accepts money. */
export async function findOpen(world: World, id: string): Promise<OpenOrder> {
  const found = await findOrder(world, { id });
  if (found.kind !== 'open') throw new Error(`the order is ${found.kind}`);
  return found.order;
}

/**
 * Predicts the outcome of an order after a payment. The payment's first outputs return parents, the other outputs are
 * coins.
 */
export function foretell(
  open: OpenOrder,
  values: readonly number[],
  parents: NonNullable<WantedPayment['parents']> = new Map(),
): PaymentOutcome {
  const coins = values.map((value, place) => ({
    vout: parents.size + place,
    value: BigInt(value),
    ranges: null,
  }));
  return afterPayment(open, { coins, parents }, regtestSatributes());
}

/** Compares the payments that an order's transactions spend with the predicted ones, in order. */
export async function expectSpent(
  { customerOrders }: World,
  id: string,
  outcome: PaymentOutcome,
  txid: string,
): Promise<void> {
  if (outcome.kind !== 'delivered') throw new Error(`foretold: ${outcome.kind}`);
  const { transactions, payments } = (await customerOrders.read(id))!;
  const paid = new Set(payments.map(outpointOf));
  const spending = transactions.find(({ kind }) => kind === 'commit' || kind === 'reveal');
  const spent = spending?.plan.inputs
    .map(({ outpoint }) => outpoint)
    .filter((outpoint) => paid.has(outpoint));
  const named = ({ outpoint, vout }: PayingCoin): string => outpoint ?? `${txid}:${vout}`;
  expect(spent).toEqual(outcome.spent.map(named));
}
