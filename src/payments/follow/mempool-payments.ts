import { setImmediate as nextTurn } from 'node:timers/promises';
import type pg from 'pg';
import { type HashKey, hashKey, Membership } from '#indexer/mempool/stream/membership.ts';
import type { ChangeMessage, MessageQueue } from '#indexer/mempool/stream/message-queue.ts';
import type { NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import { SnapshotClock } from '#indexer/mempool/stream/snapshot-clock.ts';
import { WaitingBytes } from '#indexer/mempool/stream/waiting-bytes.ts';
import type { BlockRef } from '#kernel/contracts/block-source.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { unreachable } from '#kernel/unreachable.ts';
import { MempoolOutputs } from '#payments/memory/mempool-outputs.ts';
import type { ScriptSet } from '#payments/memory/script-set.ts';
import { type FoundTransaction, outpointsOf, TransactionScan } from '#payments/memory/transaction-scan.ts';
import type { Spends, UnconfirmedPayments } from '#payments/memory/unconfirmed-payments.ts';
import {
  type Replacement,
  type SeenTransaction,
  tellPayments,
  writeBack,
  writeGone,
  writePending,
  writeReplaced,
} from '#payments/store/payments.store.ts';

/**
 * Maximum number of transactions per round. The next two constants are the maximum numbers of transactions and of
 * messages per turn of the event loop. A turn takes some milliseconds.
 */
const transactionsAtOnce = 5000;
const lookedAtOnce = 500;
const messagesAtOnce = 4000;
/**
 * How long a payment must be missing before it is marked as gone, in ms. A payment whose replacement was seen is marked
 * at once. The delay is needed because a node announces a removal before the transaction that caused the removal. The
 * node also announces the transactions of a disconnected block some time after the block is gone.
 */
const graceMs = 2000;
/**
 * How long the tip of the message stream may differ from the last scanned block, in ms. After this time, messages must
 * have been lost, so a new snapshot of the mempool is read.
 */
const apartMaxMs = 10_000;
/**
 * Maximum number of transactions whose inputs are stored for a payment. They are the payment's transaction and its
 * unconfirmed ancestors. Every node allows fewer ancestors (25, or clusters of 64).
 */
const ancestorsMax = 100;

export interface MempoolPaymentsOptions {
  readonly client: pg.ClientBase;
  readonly node: NodeMempool;
  /** Messages of the node, or null if the node is polled. */
  readonly queue: MessageQueue | null;
  readonly scripts: () => ScriptSet;
  readonly unconfirmed: UnconfirmedPayments;
}

/**
 * Follows payments in the mempool of a node: additions, replacements and removals. Its state is only in memory, and is
 * dropped after a failure.
 */
export class MempoolPayments {
  readonly #options: MempoolPaymentsOptions;
  readonly #membership = new Membership();
  readonly #waiting = new WaitingBytes();
  readonly #outputs = new MempoolOutputs();
  readonly #clock: SnapshotClock;
  /** Unconfirmed payments that are not in the mempool, with the time (ms) since which they are missing. */
  readonly #missingSince = new Map<HashKey, number>();
  #nodeTip: HashKey | null = null;
  #apartSince: number | null = null;
  #isLoaded = false;

  constructor(options: MempoolPaymentsOptions) {
    this.#options = options;
    this.#clock = new SnapshotClock(options.queue === null);
  }

  /** Whether there are more transactions to scan. */
  get hasWork(): boolean {
    return this.#waiting.isLoading;
  }

  /**
   * Polls the node in the next round. Does nothing if the node sends messages, because it has already sent all changes.
   */
  hurry(): void {
    if (this.#options.queue === null) this.#clock.hurry();
  }

  /** Schedules a new scan of those mempool transactions that may pay scripts with these short fingerprints. */
  watch(fingerprints: ReadonlySet<number>): void {
    for (const txid of this.#outputs.find(fingerprints)) this.#waiting.add(txid);
  }

  /**
   * Runs one round, which processes the node's messages. If the last scanned block is the tip of the mempool, the round
   * also stores the changes that matter to payments.
   *
   * @param offset the last scanned block
   * @returns whether all payments of the mempool are stored
   */
  async round(offset: BlockRef): Promise<boolean> {
    const { queue } = this.#options;
    const now = Date.now();
    if (this.#clock.isDue(this.#membership, now)) {
      await this.#join();
      this.#clock.taken(now, Date.now());
    }
    if (queue !== null) await this.#hear(queue);
    // the state of a payment in the mempool is stored only if it is certain that no block has the payment
    if (!this.#isAt(offset)) return false;
    await this.#look();
    await this.#settle();
    return !this.hasWork;
  }

  #isAt({ hash }: BlockRef): boolean {
    if (!this.#membership.isJoined) return false;
    if (this.#nodeTip === hashKey(hash)) {
      this.#apartSince = null;
      return true;
    }
    this.#apartSince ??= Date.now();
    if (Date.now() - this.#apartSince > apartMaxMs) {
      this.#apartSince = null;
      this.#membership.lose();
    }
    return false;
  }

  async #join(): Promise<void> {
    const { node } = this.#options;
    let tip = await node.bestBlock();
    let snapshot = await node.snapshot();
    for (let next = await node.bestBlock(); next !== tip; next = await node.bestBlock()) {
      tip = next;
      snapshot = await node.snapshot();
    }
    for (const changes of this.#membership.join(snapshot)) {
      for (const { kind, txid } of changes) this.#take(kind === 'entered', txid);
      await nextTurn();
    }
    this.#nodeTip = tip;
  }

  async #hear(queue: MessageQueue): Promise<void> {
    if (queue.takeLoss()) this.#membership.lose();
    let told = 0;
    for (const message of queue.takeChanges()) {
      await this.#tell(message);
      if (++told % messagesAtOnce === 0) await nextTurn();
    }
  }

  async #tell(message: ChangeMessage): Promise<void> {
    // after the next snapshot, earlier messages are not needed
    if (!this.#membership.isJoined) return;
    const { node } = this.#options;
    switch (message.kind) {
      case 'mempool-added':
      case 'mempool-removed': {
        const kind = message.kind === 'mempool-added' ? 'added' : 'removed';
        const { mempoolSequence: sequence } = message;
        for (const change of this.#membership.tell({ kind, txid: hashKey(message.txid), sequence }))
          this.#take(change.kind === 'entered', change.txid);
        return;
      }
      case 'block-connected': {
        const hash = hashKey(message.hash);
        const block = await node.block(hash);
        if (block === null) {
          this.#membership.lose();
          return;
        }
        this.#nodeTip = hash;
        for (const { txid } of this.#membership.tell({ kind: 'block-connected', hash, txids: block.txids }))
          this.#take(false, txid);
        return;
      }
      case 'block-disconnected':
        this.#nodeTip = (await node.block(hashKey(message.hash)))?.previous ?? (await node.bestBlock());
        return;
      default:
        unreachable(message);
    }
  }

  #take(isEntering: boolean, txid: HashKey): void {
    if (isEntering) {
      this.#waiting.add(txid);
      return;
    }
    this.#waiting.delete(txid);
    this.#outputs.delete(txid);
  }

  /** Scans new transactions. */
  async #look(): Promise<void> {
    const { queue, node, scripts, unconfirmed } = this.#options;
    const isHurried = !this.#isLoaded || queue === null;
    const taken = await this.#waiting.take(queue, node, { countMax: transactionsAtOnce, isHurried });
    if (!this.#waiting.isLoading) this.#isLoaded = true;
    const all: FoundTransaction[] = [];
    let looked = 0;
    const scan = new TransactionScan(scripts(), unconfirmed);
    for (const { txid, bytes } of taken) {
      const found = this.#scan(scan, txid, bytes);
      if (found !== null) all.push(found);
      if (++looked % lookedAtOnce === 0) await nextTurn();
    }
    const paying = all.filter(({ outputs }) => outputs.length > 0);
    const replaced = all.flatMap(({ txid: by, conflicts }) =>
      conflicts.filter((txid) => !this.#membership.has(txid)).map((txid) => ({ txid, by })),
    );
    if (paying.length > 0 || replaced.length > 0) await this.#write(paying, replaced);
  }

  #scan(scan: TransactionScan, txid: HashKey, bytes: Uint8Array): FoundTransaction | null {
    const fingerprints: number[] = [];
    const found = scan.transaction(bytes, fingerprints);
    this.#outputs.add(txid, fingerprints);
    // the bytes may not be a transaction; after a later snapshot, the bytes are requested from the node again
    return found !== null && 'code' in found ? null : found;
  }

  async #write(paying: readonly FoundTransaction[], replaced: readonly Replacement[]): Promise<void> {
    const { client, node, unconfirmed } = this.#options;
    const entries = await node.entries(paying.map(({ txid }) => txid));
    const seen: SeenTransaction[] = [];
    for (const found of paying) {
      const firstSeenMs = entries.get(found.txid)?.firstSeen ?? Date.now();
      seen.push({ found, firstSeenMs, spends: await this.#spendsOf(found) });
    }
    const inserted = await withTransaction(client, async (tx) => {
      const written = await writePending(tx, seen);
      const hasReplaced = await writeReplaced(tx, replaced);
      if (written.size > 0 || hasReplaced) await tellPayments(tx);
      return written;
    });
    failpoint('payments-mempool');
    this.#remember(seen, inserted);
    for (const { txid } of replaced) {
      const payment = unconfirmed.get(txid);
      if (payment !== null) payment.isGone = true;
    }
  }

  /**
   * Adds new payments to the in-memory state. For known payments, adds the outpoints that their ancestors spend,
   * because these ancestors may have been in a block before.
   */
  #remember(seen: readonly SeenTransaction[], inserted: ReadonlySet<HashKey>): void {
    const { unconfirmed } = this.#options;
    for (const {
      found: { txid },
      spends,
    } of seen) {
      const known = unconfirmed.get(txid);
      if (known === null) {
        if (inserted.has(txid)) unconfirmed.add({ txid, spends, isGone: false });
        continue;
      }
      const now = new Set(spends.map(({ spender }) => spender));
      const earlier = known.spends.filter(({ spender }) => !now.has(spender));
      unconfirmed.add({ txid, spends: [...spends, ...earlier], isGone: known.isGone });
    }
  }

  /** The outpoints that a transaction and its unconfirmed ancestors spend. */
  async #spendsOf({ txid, outpoints }: FoundTransaction): Promise<Spends[]> {
    const { node } = this.#options;
    const spends: Spends[] = [{ spender: txid, outpoints }];
    const known = new Set([txid]);
    // the loop body adds elements to this list, and the loop visits these elements, too
    for (const { outpoints: spent } of spends) {
      if (spends.length >= ancestorsMax) break;
      const parents = new Set<HashKey>();
      for (let at = 0; at < spent.length; at += 36) {
        const parent = hashKey(spent.subarray(at, at + 32));
        if (this.#membership.has(parent) && !known.has(parent)) parents.add(parent);
      }
      for (const [spender, bytes] of await node.transactions([...parents])) {
        known.add(spender);
        spends.push({ spender, outpoints: outpointsOf(bytes) });
      }
    }
    return spends;
  }

  /** Marks unconfirmed payments as gone, or as present again. */
  async #settle(): Promise<void> {
    const { client, unconfirmed } = this.#options;
    const now = Date.now();
    const gone: HashKey[] = [];
    const back: HashKey[] = [];
    for (const { txid, isGone } of unconfirmed.all()) {
      if (this.#membership.has(txid)) {
        this.#missingSince.delete(txid);
        if (isGone) back.push(txid);
      } else if (!isGone) {
        const since = this.#missingSince.get(txid) ?? now;
        this.#missingSince.set(txid, since);
        if (now - since >= graceMs) gone.push(txid);
      }
    }
    await writeWhereabouts(client, unconfirmed, { gone, back });
    for (const txid of this.#missingSince.keys()) {
      if (unconfirmed.get(txid)?.isGone !== false) this.#missingSince.delete(txid);
    }
  }
}

/** Stores that unconfirmed payments are gone, or present again, and updates the in-memory state. */
export async function writeWhereabouts(
  client: pg.ClientBase,
  unconfirmed: UnconfirmedPayments,
  { gone, back }: { readonly gone: readonly HashKey[]; readonly back: readonly HashKey[] },
): Promise<void> {
  if (gone.length === 0 && back.length === 0) return;
  await withTransaction(client, async (tx) => {
    const isGone = await writeGone(tx, gone);
    const isBack = await writeBack(tx, back);
    if (isGone || isBack) await tellPayments(tx);
  });
  failpoint('payments-gone');
  for (const [txids, isGone] of [[gone, true] as const, [back, false] as const]) {
    for (const txid of txids) {
      const payment = unconfirmed.get(txid);
      if (payment !== null) payment.isGone = isGone;
    }
  }
}
