import { displayHash } from '#kernel/primitives/hash.ts';
import type { Order } from '#orders/order/order.store.ts';
import type { OrderTransaction } from '#orders/order/order-transactions.store.ts';
import { outpointOf } from '#purse/transactions/outpoint.ts';
import { spentBy } from '#purse/transactions/stored-plan.ts';
import type { DepositAddress } from './deposits.store.ts';
import { candidates, type Deposit } from './deposits.ts';

/** A parent in the form that answers show. Fields that are not known yet are null. */
export interface ShownParent {
  readonly depositAddress: string | null;
  /** Output that arrived at the deposit address. It may already be spent. */
  readonly txid: string | null;
  readonly vout: number | null;
  /** Txid of the transaction that returns the parent, once a node has it. */
  readonly parentReturnTx: string | null;
}

/** The progress of an order's parents, in the sequence of its terms. Pure. */
export function shownParents(
  order: Pick<Order, 'terms' | 'expiresAt'>,
  addresses: readonly DepositAddress[],
  deposits: readonly Deposit[],
  transactions: readonly OrderTransaction[],
): ShownParent[] {
  const used = candidates(
    order.terms.parents.length,
    deposits,
    { expiresAt: order.expiresAt, now: new Date() },
    spentBy(transactions, 'return'),
  );
  return used.map((candidate, index): ShownParent => {
    const there = deposits.filter(({ at, state }) => at.index === index && state !== 'gone');
    const deposit = candidate ?? there.at(-1);
    const address = addresses.find((one) => one.index === index)?.address ?? null;
    if (deposit === undefined)
      return { depositAddress: address, txid: null, vout: null, parentReturnTx: null };
    const { txid, vout } = deposit.payment;
    return {
      depositAddress: address,
      txid: displayHash(txid),
      vout,
      parentReturnTx: returningTxid(outpointOf(deposit.payment), transactions),
    };
  });
}

/**
 * The txid of the transaction that returns a parent: the last reveal, or a separate return. Null if a node does not
 * have this transaction yet.
 */
function returningTxid(outpoint: string, transactions: readonly OrderTransaction[]): string | null {
  const spending = transactions.find(({ plan }) => plan.inputs.some((input) => input.outpoint === outpoint));
  const last =
    spending?.kind === 'reveal' ? transactions.findLast(({ kind }) => kind === 'reveal') : spending;
  return last === undefined || last.sentAt === null ? null : displayHash(last.txid);
}
