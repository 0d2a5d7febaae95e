import type pg from 'pg';
import { MessageQueue } from '#indexer/mempool/stream/message-queue.ts';
import { type MempoolRpc, NodeMempool } from '#indexer/mempool/stream/node-mempool.ts';
import type { BlockSource } from '#kernel/contracts/block-source.ts';
import type { LiveBlockSource } from '#kernel/contracts/live-source.ts';
import type { NodeFacts, NodeMessages } from '#kernel/contracts/node.ts';
import type { AppError } from '#kernel/errors/app-error.ts';
import { withTransaction } from '#kernel/pg/transaction.ts';
import type { Height } from '#kernel/primitives/height.ts';
import { failpoint } from '#kernel/process/failpoint.ts';
import { ScriptSet } from '#payments/memory/script-set.ts';
import { UnconfirmedPayments } from '#payments/memory/unconfirmed-payments.ts';
import { writeCompleteAt, writeScriptCount } from '#payments/store/offset.store.ts';
import { tellPayments, touchPayments } from '#payments/store/payments.store.ts';
import { pickUpWatches, readWatchedScripts } from '#payments/store/watches.store.ts';
import { BlockPayments } from './block-payments.ts';
import { MempoolPayments, writeWhereabouts } from './mempool-payments.ts';
import { PaymentChain, type RawBlocks } from './payment-chain.ts';

/**
 * Scripts no longer watched are removed this long after the notification: the set is rebuilt in a tenth of a second.
 */
const forgetEveryMs = 60_000;
/** How often missing blocks are requested again: a person has to supply them. */
const unavailableMs = 60_000;
/** The time up to which all is known is stored this often: it decides about the ends of orders, which have minutes. */
const completeEveryMs = 5_000;
/** News of the node are on their way for milliseconds; one that is polled is asked every two seconds. */
const newsMs = 5_000;

/** A node with its mempool. */
export interface PaymentsNode extends RawBlocks {
  readonly rpc: MempoolRpc;
  readonly facts: Pick<NodeFacts, 'zmq'>;
  readonly messages: NodeMessages;
  readonly blockMessages: NodeMessages;
  readonly hasCookieFile: boolean;
}

export interface PaymentsSessionOptions {
  /** The connection that holds the lock: all writes use it. */
  readonly client: pg.ClientBase;
  readonly source: BlockSource | LiveBlockSource;
  /** Null: the source is a folder. */
  readonly node: PaymentsNode | null;
  readonly signal: AbortSignal;
  /** Blocks that watches need are missing: reported once a minute. */
  readonly onUnavailable: (problem: AppError) => void;
}

/** Payments between one start and the next failure: the tables' state in memory, and the mempool. */
export class PaymentsSession {
  readonly #options: PaymentsSessionOptions;
  #scripts = new ScriptSet();
  readonly #unconfirmed = new UnconfirmedPayments();
  readonly #blocks: BlockPayments;
  #mempool: { readonly payments: MempoolPayments; readonly queue: MessageQueue | null } | null = null;
  #loadedAt = 0;
  #completeAt = 0;
  #hasFewer = false;
  /** Watches whose next block is at this height or below it wait for a missing block; -1: none does. */
  #waitsUpTo: Height | -1 = -1;
  #askAgainAt = 0;

  constructor(options: PaymentsSessionOptions) {
    this.#options = options;
    const { client, source, node, signal } = options;
    this.#blocks = new BlockPayments({
      client,
      chain: new PaymentChain(source, node, signal),
      scripts: () => this.#scripts,
      unconfirmed: this.#unconfirmed,
    });
  }

  get height(): number | null {
    return this.#blocks.offset?.height ?? null;
  }

  get scripts(): number {
    return this.#scripts.size;
  }

  async load(): Promise<void> {
    await this.#loadScripts();
    await this.#blocks.load();
  }

  /** A script is no longer watched by a watcher. */
  forget(): void {
    this.#hasFewer = true;
  }

  /** A payment was just sent to the node. */
  hurry(): void {
    this.#mempool?.payments.hurry();
  }

  /** One round: new watches, new blocks, old blocks, the mempool. Returns true if there is more to do at once. */
  async round(): Promise<boolean> {
    const startedAt = Date.now();
    if (this.#hasFewer && Date.now() - this.#loadedAt >= forgetEveryMs) await this.#loadScripts();
    await this.#pickUp();
    const progress = await this.#blocks.follow();
    if (progress !== 'atTip') return progress === 'behind';
    const hasOld = await this.#scanOld();
    const mempool = this.#openMempool();
    const { offset } = this.#blocks;
    if (offset === null) return false;
    const isSettled = mempool === null ? await this.#settleWithoutMempool() : await mempool.round(offset);
    if (isSettled && !hasOld) await this.#noteComplete(startedAt - newsMs);
    return hasOld || mempool?.hasWork === true;
  }

  close(): void {
    this.#mempool?.queue?.close();
    this.#mempool = null;
  }

  async #loadScripts(): Promise<void> {
    const { client } = this.#options;
    this.#hasFewer = false;
    this.#loadedAt = Date.now();
    const scripts = this.#scripts.emptied();
    await readWatchedScripts(client, (script) => scripts.add(script));
    this.#scripts = scripts;
    await writeScriptCount(client, scripts.size);
  }

  /** Takes new watches: from then on their old blocks are scanned, and the current mempool. */
  async #pickUp(): Promise<void> {
    const { client } = this.#options;
    const { offset } = this.#blocks;
    if (offset === null) return;
    for (;;) {
      const scripts = await withTransaction(client, async (tx) => {
        const fresh = await pickUpWatches(tx, offset.height);
        if (fresh.length > 0 && (await touchPayments(tx, fresh))) await tellPayments(tx);
        return fresh;
      });
      if (scripts.length === 0) return;
      failpoint('payments-watch');
      const fingerprints = new Set(scripts.map((script) => this.#scripts.add(script)));
      this.#mempool?.payments.watch(fingerprints);
      await writeScriptCount(client, this.#scripts.size);
    }
  }

  async #scanOld(): Promise<boolean> {
    if (this.#waitsUpTo >= 0 && Date.now() >= this.#askAgainAt) this.#waitsUpTo = -1;
    const { hasMore, missing } = await this.#blocks.scanOld(this.#waitsUpTo);
    if (missing === null) return hasMore;
    if (this.#waitsUpTo < 0) {
      this.#askAgainAt = Date.now() + unavailableMs;
      this.#options.onUnavailable(missing.problem);
    }
    // neither payments in newer blocks nor watches that begin above wait for this block
    this.#waitsUpTo = missing.height;
    return true;
  }

  /** The mempool is followed while scripts are watched. */
  #openMempool(): MempoolPayments | null {
    const { client, node, signal } = this.#options;
    if (node === null) return null;
    if (this.#scripts.size === 0) {
      this.close();
      return null;
    }
    if (this.#mempool === null) {
      const queue = node.facts.zmq.has('sequence') ? new MessageQueue(node.messages) : null;
      const payments = new MempoolPayments({
        client,
        node: new NodeMempool(node.rpc, signal),
        queue,
        scripts: () => this.#scripts,
        unconfirmed: this.#unconfirmed,
      });
      this.#mempool = { payments, queue };
    }
    return this.#mempool.payments;
  }

  /** Stores that all payments up to a time are known. */
  async #noteComplete(at: number): Promise<void> {
    if (at - this.#completeAt < completeEveryMs) return;
    await writeCompleteAt(this.#options.client, new Date(at));
    this.#completeAt = at;
  }

  /** For a folder, a payment in none of its blocks is gone. */
  async #settleWithoutMempool(): Promise<true> {
    const gone = [...this.#unconfirmed.all()].filter(({ isGone }) => !isGone).map(({ txid }) => txid);
    await writeWhereabouts(this.#options.client, this.#unconfirmed, { gone, back: [] });
    return true;
  }
}
