import type pg from 'pg';
import type { NodeRpc } from '#kernel/contracts/node.ts';
import { displayHash } from '#kernel/primitives/hash.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import type { Logger } from '#kernel/reports/logger.ts';
import { Repeats } from '#kernel/reports/repeats.ts';
import { noteRefusal } from '#orders/order/order-notes.store.ts';
import { transactionsToSend, type WaitingTransaction } from '#orders/order/order-transactions.store.ts';
import {
  markAllSent,
  markSent,
  readAllSigned,
  readSigned,
} from '#purse/transactions/wallet-transactions.store.ts';
import { type Broadcast, broadcast, broadcastWithBurn } from './broadcast.ts';
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

/** Sends stored transactions that are not in a block, within the node's limits on dependent transactions. */
export class TransactionSender {
  readonly #parts: SendingParts;
  readonly #repeats = new Repeats();

  constructor(parts: SendingParts) {
    this.#parts = parts;
  }

  /**
   * Sends new transactions of these orders. If `orderIds` is null, sends all transactions that must be sent. Throws the
   * codes of NodeRpc if the node does not answer.
   */
  async send(
    orderIds: readonly string[] | null,
    limits: ClusterLimits = defaultClusterLimits,
  ): Promise<void> {
    const { client, signal } = this.#parts;
    // has only orders whose commit is not in a block
    const rooms = new Map<string, ClusterRoom>();
    for (const unit of unitsOf(await transactionsToSend(client, orderIds))) {
      if (signal.aborted) return;
      const { orderId, kind } = unit[0];
      const room = rooms.get(orderId);
      const absent = await this.#absentOf(unit);
      if (absent.length > 0 && room !== undefined && !room.has(absent.length, sizeOf(absent))) continue;
      const refused = await this.#sendUnit(absent);
      const held = unit.filter((each) => !refused.includes(each));
      if (held.length === 0) continue;
      if (kind === 'commit') rooms.set(orderId, new ClusterRoom(limits));
      for (const { virtualBytes } of held) rooms.get(orderId)?.add(virtualBytes);
    }
  }

  /**
   * Sends new transactions of these orders, several at the same time. The transactions spend only outputs in blocks, so
   * they do not depend on each other. Throws the errors of `send`.
   */
  async sendAtOnce(orderIds: readonly string[]): Promise<void> {
    const { client, node, signal } = this.#parts;
    const waiting = await transactionsToSend(client, orderIds);
    for (const batch of batchesOf(waiting)) {
      if (signal.aborted) return;
      const signed = await readAllSigned(
        client,
        batch.map(({ txid }) => txid),
      );
      const sent = await Promise.all(
        signed.map(async (each) => ({ txid: each.txid, ...(await broadcast(node, each)) })),
      );
      failpoint('order-sent');
      await markAllSent(
        client,
        sent.filter(({ refusal }) => refusal === null).map(({ txid }) => txid),
      );
      failpoint('order-marked');
      for (const { txid, ...outcome } of sent) {
        const transaction = batch.find((each) => Buffer.compare(each.txid, txid) === 0);
        if (outcome.refusal !== null && transaction !== undefined)
          await this.#noteOutcome(transaction, outcome);
      }
    }
  }

  async #absentOf(unit: Unit): Promise<readonly WaitingTransaction[]> {
    const absent: WaitingTransaction[] = [];
    for (const each of unit) if (!(await this.#isThere(each))) absent.push(each);
    return absent;
  }

  async #isThere({ txid, orderId, sentAt, refusal }: WaitingTransaction): Promise<boolean> {
    const { client, node } = this.#parts;
    if (sentAt === null || (await mempoolStanding(node, txid)) === null) return false;
    if (refusal !== null) await this.#note(client, { txid, orderId }, null);
    return true;
  }

  /**
   * Sends transactions that are not in the mempool: one transaction, or a reveal and its burn. Returns those that are
   * still not in the mempool.
   */
  async #sendUnit(absent: readonly WaitingTransaction[]): Promise<readonly WaitingTransaction[]> {
    const [first, burn] = absent;
    if (first === undefined) return [];
    if (burn === undefined) return (await this.#sendOne(first)) ? [] : [first];
    const { client, node } = this.#parts;
    const [reveal, burning] = [await readSigned(client, first.txid), await readSigned(client, burn.txid)];
    const { revealed, burned } = await broadcastWithBurn(node, reveal, burning);
    failpoint('order-sent');
    const isOver = isSpent(first, revealed);
    // the reveal is marked before its burn, because a marked reveal is never sent without the burn
    if (!isOver) await this.#noteOutcome(first, revealed);
    let isBurnHeld = burned?.outcome === 'held';
    if (burned === null || isOver) isBurnHeld = await this.#sendOne(burn);
    else await this.#noteOutcome(burn, burned);
    failpoint('order-marked');
    return [...(revealed.outcome === 'held' ? [] : [first]), ...(isBurnHeld ? [] : [burn])];
  }

  /** Sends one transaction. Returns whether it is in the mempool now. */
  async #sendOne(transaction: WaitingTransaction): Promise<boolean> {
    const { client, node } = this.#parts;
    // transactions are read one at a time, because all transactions of a large order together have 50 MB
    const sent = await broadcast(node, await readSigned(client, transaction.txid));
    failpoint('order-sent');
    if (isSpent(transaction, sent)) return false;
    await this.#noteOutcome(transaction, sent);
    failpoint('order-marked');
    return sent.outcome === 'held';
  }

  async #noteOutcome(transaction: WaitingTransaction, { refusal }: Broadcast): Promise<void> {
    const { client, log } = this.#parts;
    const { txid } = transaction;
    await this.#note(client, transaction, refusal);
    if (refusal !== null && this.#repeats.isDue(`${displayHash(txid)} ${refusal.reason}`))
      log.warn(
        { txid: displayHash(txid), refusal: refusal.reason, kind: refusal.kind },
        'the node refused a transaction; the transaction is sent again',
      );
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

/**
 * Maximum number of transactions that are sent at the same time. It is half of the calls that a node processes at a
 * time by default since Bitcoin Core 29 (`-rpcthreads` is 16; it was 4 before).
 */
const batchCount = 8;
/**
 * Maximum total size of the transactions that are sent at the same time, in virtual bytes. Transactions of a large
 * order have megabytes, and memory holds three copies of each.
 */
const batchVirtualBytes = 1_000_000;

/** Splits transactions into batches that are sent at the same time. The order is kept. Pure. */
export function batchesOf<T extends Pick<WaitingTransaction, 'virtualBytes'>>(
  transactions: readonly T[],
): T[][] {
  const batches: T[][] = [];
  let virtualBytes = 0;
  for (const each of transactions) {
    const last = batches.at(-1);
    virtualBytes += each.virtualBytes;
    if (last !== undefined && last.length < batchCount && virtualBytes <= batchVirtualBytes) last.push(each);
    else {
      batches.push([each]);
      ({ virtualBytes } = each);
    }
  }
  return batches;
}

/**
 * A unit for sending: one transaction, or a reveal with its burn. A reveal and its burn are sent together, because
 * anyone may spend an unspent anchor.
 */
type Unit = readonly [WaitingTransaction] | readonly [WaitingTransaction, WaitingTransaction];

/**
 * Groups transactions into units: each reveal with its burn. A burn whose reveal is not in the list is a unit alone,
 * because a node has or had the reveal. Pure.
 */
export function unitsOf(transactions: readonly WaitingTransaction[]): Unit[] {
  const burns = new Map(
    transactions.filter(({ kind }) => kind === 'burn').map((burn) => [placeOf(burn), burn]),
  );
  const units: Unit[] = [];
  for (const each of transactions) {
    const burn = burns.get(placeOf(each));
    if (each.kind === 'reveal' && burn !== undefined) {
      units.push([each, burn]);
      burns.delete(placeOf(each));
    } else if (each.kind !== 'burn' || burns.has(placeOf(each))) units.push([each]);
  }
  return units;
}

const placeOf = ({ orderId, index }: WaitingTransaction): string => `${orderId} ${index}`;

const sizeOf = (transactions: readonly WaitingTransaction[]): number =>
  transactions.reduce((sum, { virtualBytes }) => sum + virtualBytes, 0);

/** Whether the transaction was mined and all its outputs are spent. */
const isSpent = ({ sentAt }: WaitingTransaction, { refusal }: Broadcast): boolean =>
  refusal?.kind === 'missing' && sentAt !== null;
