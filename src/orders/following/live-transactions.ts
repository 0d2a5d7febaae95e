import { displayHash } from '#kernel/primitives/hash.ts';
import type { OrderBump } from '#orders/bumping/bump.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import type { WatchedPayment } from '#payments/payments.queries.ts';
import { outpointOf, shownTxidOf } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';

/**
 * Payments and outputs of bumps that transactions of an order can spend, because they are in a block or may still be
 * mined. Pure.
 */
export function outputsThere(
  payments: readonly Pick<WatchedPayment, 'txid' | 'vout' | 'goneAt'>[],
  bumps: readonly Pick<OrderBump, 'txid' | 'isMined' | 'isDead'>[],
): ReadonlySet<string> {
  return new Set([
    ...payments.filter(({ goneAt }) => goneAt === null).map(outpointOf),
    // after a reorganisation, a mined bump may be in no block for a while
    ...bumps
      .filter(({ isMined, isDead }) => isMined || !isDead)
      .map(({ txid }) => outpointOf({ txid, vout: 0 })),
  ]);
}

/**
 * Whether a signed delivery may still be mined. A superseded delivery may be mined, too, because other people may have
 * its transactions. The result becomes false if an input of the delivery is gone. It also becomes false if a refund or
 * return that spends the same input is deep in the chain. Pure.
 *
 * @param deliveries commits and reveals, superseded or not
 * @param deepClosings refunds and returns that no reorganisation removes
 */
export function mayBeDelivered(
  deliveries: readonly Pick<OrderTransaction, 'txid' | 'kind' | 'plan'>[],
  deepClosings: readonly Pick<OrderTransaction, 'plan'>[],
  there: ReadonlySet<string>,
): boolean {
  const spent = spentBy(deepClosings);
  const open = deliveries.filter(({ plan }) => plan.inputs.every(({ outpoint }) => !spent.has(outpoint)));
  return splitOrphans(open, there).live.some(({ kind }) => kind === 'reveal');
}

/**
 * Splits the transactions of an order into `live`, which can be mined, and `orphans`, which cannot. In `live`, each
 * transaction comes after the transactions that it spends. An orphan spends an output that is neither in `there` nor
 * made by a live transaction. Pure.
 */
export function splitOrphans<T extends Pick<OrderTransaction, 'txid' | 'plan'>>(
  transactions: readonly T[],
  there: ReadonlySet<string>,
): { readonly live: readonly T[]; readonly orphans: readonly T[] } {
  const live: T[] = [];
  const made = new Set<string>();
  let left = transactions;
  for (let before = -1; before !== live.length; ) {
    before = live.length;
    left = left.filter((transaction) => {
      const isLive = transaction.plan.inputs.every(
        ({ outpoint }) => there.has(outpoint) || made.has(shownTxidOf(outpoint)),
      );
      if (!isLive) return true;
      live.push(transaction);
      made.add(displayHash(transaction.txid));
      return false;
    });
  }
  return { live, orphans: left };
}
