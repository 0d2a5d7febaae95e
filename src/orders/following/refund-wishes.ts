import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { giveUpPackages } from '#orders/mining/packages.store.ts';
import { lockOrder, type Order, recordEvent } from '#orders/order/order.store.ts';
import { isDelivering } from '#orders/order/order-machine.ts';
import { missingMints, missingSat } from '#orders/order/order-notes.store.ts';
import {
  type OrderTransaction,
  readTransactions,
  supersedeOfOrders,
} from '#orders/order/order-transactions.store.ts';
import { forgetRefundWish, grantRefundWish, refundWishes } from '#orders/order/order-wishes.store.ts';
import { isUnspent } from '#orders/sending/unspent-output.ts';
import { outpointParts, shownTxidOf } from '#purse/transactions/outpoint.ts';
import { applyEvent, type OrderSteps } from './process-order.ts';

export interface WishesParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly steps: Pick<OrderSteps, 'tell'>;
}

/**
 * Decides requested refunds of orders whose transactions are stored. A refund is granted if the inputs of these
 * transactions are unspent in the mempool and in blocks. The transactions are then never sent again. The refund spends
 * the same inputs, so either the refund or the transactions are mined, never both. If an order lacks an inventory sat
 * or mints, and no refund of the whole order is possible, the order continues. Only the refund address is stored, for
 * the refund of the missing part. Returns the orders whose requests were decided. Throws the codes of NodeRpc.
 */
export async function decideRefundWishes({ client, node, steps }: WishesParts): Promise<string[]> {
  const wishes = await refundWishes(client);
  for (const id of wishes) {
    const isFree = await areFree(node, await readTransactions(client, id));
    await withTransaction(client, async (tx) => {
      const order = await lockOrder(tx, id);
      if (order === null) return;
      if (!isDelivering(order.state)) {
        await forgetRefundWish(tx, id, null);
      } else if (isFree) {
        await grantRefundWish(tx, id);
        await giveUpPackages(tx, id);
        const made = await readTransactions(tx, id);
        await supersedeOfOrders(
          tx,
          made.map(({ txid }) => txid),
        );
        await applyEvent(tx, order, 'refunding', steps);
      } else if (isMissingPart(order)) {
        // only the address is stored, so that the refund of the missing part can be sent
        await grantRefundWish(tx, id);
      } else {
        await forgetRefundWish(tx, id, refused);
        await recordEvent(tx, id, 'refunding', order.state, null);
      }
    });
  }
  return wishes;
}

/** Whether a part of the order can never be delivered. The money of this part is kept until there is an address. */
const isMissingPart = ({ error }: Pick<Order, 'error'>): boolean =>
  [missingSat, missingMints].some((start) => error?.startsWith(start) === true);

const refused =
  'The order is not refunded, because the mempool or a block has a transaction that spends its payments.';

/**
 * Whether the inputs of these transactions are unspent in blocks and in the mempool. If so, the transactions themselves
 * are not in the mempool or a block either, because each of them depends on payments.
 */
async function areFree(node: NodeRpc, transactions: readonly OrderTransaction[]): Promise<boolean> {
  const own = new Set<string>(transactions.map(({ txid }) => displayHash(txid)));
  for (const { outpoint } of transactions.flatMap(({ plan }) => plan.inputs)) {
    if (own.has(shownTxidOf(outpoint))) continue;
    if (!(await isUnspent(node, outpointParts(outpoint), { mempool: true }))) return false;
  }
  return true;
}
