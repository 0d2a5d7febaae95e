import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { failpoint } from '#kernel/failpoint.ts';
import type { Logger } from '#kernel/logger.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { Repeats } from '#kernel/repeats.ts';
import { noteRefusal } from '#orders/order/order.store.ts';
import {
  markSent,
  readSigned,
  transactionsToSend,
  type WaitingTransaction,
} from '#orders/order/order-transactions.store.ts';
import { broadcast } from './broadcast.ts';
import { ClusterRoom } from './cluster-room.ts';
import { mempoolStanding } from './mempool-standing.ts';
import { type ClusterLimits, defaultClusterLimits } from './node-standing.ts';
import type { Refusal } from './refusal.ts';

export interface SendingParts {
  readonly client: pg.ClientBase;
  readonly node: NodeRpc;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** Sends what is stored and in no block, within what the node lets depend on each other. */
export class TransactionSender {
  readonly #parts: SendingParts;
  readonly #repeats = new Repeats();

  constructor(parts: SendingParts) {
    this.#parts = parts;
  }

  /**
   * Sends what was never sent of these orders; null: all that is needed. Throws the codes of NodeRpc where the node
   * does not answer.
   */
  async send(
    orderIds: readonly string[] | null,
    limits: ClusterLimits = defaultClusterLimits,
  ): Promise<void> {
    const { client, signal } = this.#parts;
    // of orders whose commit is in no block
    const rooms = new Map<string, ClusterRoom>();
    for (const transaction of await transactionsToSend(client, orderIds)) {
      if (signal.aborted) return;
      const { orderId, kind, virtualBytes } = transaction;
      const isThere = transaction.sentAt !== null && (await this.#isThere(transaction));
      const room = rooms.get(orderId);
      if (!isThere && room !== undefined && !room.has(virtualBytes)) continue;
      const isHeld = isThere || (await this.#sendOne(transaction)) === 'held';
      if (!isHeld) continue;
      if (kind === 'commit') rooms.set(orderId, new ClusterRoom(limits));
      rooms.get(orderId)?.add(virtualBytes);
    }
  }

  async #isThere({ txid, orderId, refusal }: WaitingTransaction): Promise<boolean> {
    const { client, node } = this.#parts;
    if ((await mempoolStanding(node, txid)) === null) return false;
    if (refusal !== null) await this.#note(client, { txid, orderId }, null);
    return true;
  }

  /** `held`: the mempool has it now. */
  async #sendOne(transaction: WaitingTransaction): Promise<'held' | 'mined' | 'refused'> {
    const { client, node, log } = this.#parts;
    const { txid, sentAt } = transaction;
    // one at a time in memory: those of a large order have 50 MB
    const bytes = await readSigned(client, txid);
    const { outcome, refusal } = await broadcast(node, bytes);
    failpoint('order-sent');
    // it was mined, and all of its outputs are spent
    if (refusal?.kind === 'missing' && sentAt !== null) return 'mined';
    await this.#note(client, transaction, refusal);
    failpoint('order-marked');
    if (refusal !== null && this.#repeats.isDue(`${displayHash(txid)} ${refusal.reason}`))
      log.warn(
        { txid: displayHash(txid), refusal: refusal.reason, kind: refusal.kind },
        'the node refused a transaction: it is sent again',
      );
    return outcome;
  }

  async #note(
    client: pg.ClientBase,
    { txid, orderId }: Pick<WaitingTransaction, 'txid' | 'orderId'>,
    refusal: Refusal | null,
  ): Promise<void> {
    await markSent(client, txid, refusal?.reason ?? null);
    await noteRefusal(client, orderId, txid, refusal?.kind === 'lasting' ? refusal.reason : null);
  }
}
