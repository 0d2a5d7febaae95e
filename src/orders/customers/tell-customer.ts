import type pg from 'pg';
import { displayHash } from '#kernel/primitives/hash.ts';
import { type Order, readOrderFiles } from '#orders/order/order.store.ts';
import { type OrderTransaction, readTransactions } from '#orders/order/order-transactions.store.ts';
import { shownTxidOf } from '#purse/transactions/outpoint.ts';
import { putWebhooks } from '#webhooks/outbox.ts';
import type { RevealedFile } from './managed-answer.ts';

/** Subject of the webhook messages of an order (docs/webhooks.md). */
export const webhookSubjectOf = (orderId: string): string => `order ${orderId}`;

/**
 * Queues messages about a new state, in the database transaction that changes the state. The message is `{id, state}`.
 * In state `queued`, one message for each file follows, without `state` (client-compat 3.8). If the order has no
 * webhook URL, the messages are only kept for `GET /order/events`.
 */
export async function tellCustomer(tx: pg.ClientBase, order: Order): Promise<void> {
  const { id, state } = order;
  const files = state === 'queued' ? await filesTold(tx, order) : [];
  await putWebhooks(tx, { subject: webhookSubjectOf(id), url: order.webhookUrl }, [{ id, state }, ...files]);
}

async function filesTold(tx: pg.ClientBase, order: Order): Promise<object[]> {
  const { id } = order;
  const [files, transactions] = [await readOrderFiles(tx, id), await readTransactions(tx, id)];
  const commit = transactions.find(({ kind }) => kind === 'commit') ?? null;
  const reveals = transactions.filter(({ kind }) => kind === 'reveal');
  return files.flatMap((file) => {
    const placed = placeOf(file.index, reveals);
    if (placed === null) return [];
    const { reveal, inscription } = placed;
    return [
      {
        id,
        index: file.index,
        file: { ...file.shown, iqueued: true, iqueuedAt: reveal.madeAt.getTime() },
        tx: {
          commit: commit === null ? payingTxid(order, reveal) : displayHash(commit.txid),
          parent: null,
          reveal: displayHash(reveal.txid),
          total_fees: reveal.fee,
          inscription,
          updatedAt: reveal.madeAt.toISOString(),
        },
      },
    ];
  });
}

/**
 * Txid of the customer's payment. It is shown as the commit if the service made no commit. The reveal spends the
 * payment after the parents, or after an output of the inventory (`planReveal`).
 */
function payingTxid({ terms }: Order, { plan }: OrderTransaction): string | null {
  const paying = plan.inputs.filter(({ isInventory }) => isInventory !== true);
  const payment = paying[terms.parents.length];
  return payment === undefined ? null : shownTxidOf(payment.outpoint);
}

/**
 * Finds the reveal that inscribes a file. The reveals contain the files of an order in sequence. If an index of a
 * reveal is missing, this reveal was given up alone, and had one file. Null if no reveal has the file.
 */
export function placeOf(index: number, reveals: readonly OrderTransaction[]): RevealedFile | null {
  let first = 0;
  let next = 0;
  for (const reveal of reveals) {
    first += reveal.index - next;
    next = reveal.index + 1;
    if (index < first) return null;
    if (index < first + reveal.files) {
      const place = index - first;
      return { reveal, place, inscription: `${displayHash(reveal.txid)}i${place}` };
    }
    first += reveal.files;
  }
  return null;
}
